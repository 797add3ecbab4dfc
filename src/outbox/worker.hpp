// What both kinds of workers are made of: a table, a sink and a thread.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "outbox/pace.hpp"
#include "semel/core/record.hpp"
#include "semel/outbox/relay.hpp"

namespace semel::outbox {

// What all workers of a relay share.
struct relay_state {
    explicit relay_state(relay_options given);

    relay_options options; // constant
    relay_metrics own;
    relay_metrics& metrics;
    logger& log;
    std::atomic<bool> stopping = false;
};

[[nodiscard]] owner_id new_owner();

class relay_worker {
public:
    relay_worker(relay_state& shared, std::unique_ptr<table> on, std::unique_ptr<outbox::sink> to);
    relay_worker(const relay_worker&) = delete;
    relay_worker& operator=(const relay_worker&) = delete;
    virtual ~relay_worker() = default;

    // On the worker's thread, until the relay stops or has nothing left.
    virtual void run() = 0;
    // On the keeper's thread, with the keeper's connection: renews what is held.
    virtual void keep(table& with) = 0;

protected:
    [[nodiscard]] const relay_options& options() const { return shared_.options; }
    [[nodiscard]] relay_metrics& metrics() { return shared_.metrics; }
    [[nodiscard]] bool stopping() const { return shared_.stopping; }

    // One answer per message; what a sink throws is `later`.
    [[nodiscard]] std::vector<delivery> deliver(std::span<const message> batch, order kept);
    void pause();
    void found() { pace_.found(); }
    // Logs once per kind of trouble, not once per try.
    void failed(const failure& why);
    void recovered() { failing_ = false; }
    [[nodiscard]] std::uint64_t random();

    relay_state& shared_;
    const owner_id owner_ = new_owner();
    std::unique_ptr<table> table_;
    std::unique_ptr<outbox::sink> sink_;

private:
    std::uint64_t random_state_;
    poll_pace pace_;
    std::uint64_t woken_ = 0; // by the wake signal, the last time
    bool failing_ = false;
};

[[nodiscard]] std::unique_ptr<relay_worker>
make_parallel_worker(relay_state& shared, std::unique_ptr<table> on, std::unique_ptr<sink> to);
[[nodiscard]] std::unique_ptr<relay_worker>
make_ordered_worker(relay_state& shared, std::unique_ptr<table> on, std::unique_ptr<sink> to);

} // namespace semel::outbox
