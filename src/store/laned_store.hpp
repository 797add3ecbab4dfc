// A store made of batch lanes, each with a thread of its own: the shape of every durable or remote
// driver.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/home_process.hpp"
#include "semel/base/mutex.hpp"
#include "semel/store.hpp"
#include "store/lane.hpp"

namespace semel {

// Calls lane.pump() on its own thread whenever it is woken. Destruction stops it first.
class lane_thread {
public:
    lane_thread(batch_backend& backend, lane_options options);
    ~lane_thread();

    batch_lane& lane() { return lane_; }

    // Returns when all that waits is answered, and the lane closed. For one thread, and not this.
    void stop();

private:
    void wake();
    void run();

    detail::mutex mutex_;
    detail::condition changed_;
    bool woken_ SEMEL_GUARDED_BY(mutex_) = false;
    bool stopping_ SEMEL_GUARDED_BY(mutex_) = false;
    batch_lane lane_;
    std::thread thread_;
};

// Drivers derive from this and add sweep, audit and traits. Thread-safe.
class laned_store : public store {
public:
    ~laned_store() override { drain(); }

    void submit(envelope what, completion done) override;
    void submit_all(std::vector<submission> many) override;
    result<reply> call(const record_id& id, command what,
                       std::optional<time_point> now = {}) override;

protected:
    // Lanes are chosen by record hash, so that commands on one record keep their order. Renewals go
    // through the keeper's backend: a lane full of slow batches must cost no attempt its lease.
    laned_store(std::vector<std::unique_ptr<batch_backend>> backends,
                std::unique_ptr<batch_backend> keeper, lane_options options);

    // Answers everything that was submitted. What completions submit meanwhile is refused
    // (errc::stopped), but the commands of running attempts are served as long as their lane runs.
    // A driver whose backends use its own members calls this first in its destructor.
    // In a forked child it does nothing.
    void drain();

    // For sweeps, audits and searches: errc::unsupported in a forked child.
    [[nodiscard]] result<void> check_home() const;

private:
    [[nodiscard]] std::optional<failure> refusal(const command& what) const;
    [[nodiscard]] batch_lane& lane_of(const record_id& id, const command& what) const;
    [[nodiscard]] std::size_t route(const record_id& id, const command& what) const;

    const home_process home_;
    std::atomic<bool> draining_ = false;
    // Constant after construction: the completions of one lane may use every other to the end.
    std::vector<home_ptr<batch_backend>> backends_;
    std::vector<home_ptr<lane_thread>> lanes_; // the keeper's is the last
};

} // namespace semel
