// What all requests of one center share.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "edge/center/center.hpp"
#include "semel/core/metrics.hpp"

namespace semel::edge {

class errand;

struct live_center_counts {
    counter requests = {};
    counter refused = {};
    counter commands = {};
    counter started = {};
    counter replayed = {};
    counter in_progress = {}, mismatched = {}, failed = {}, in_doubt = {};
    counter fenced = {};
    counter unavailable = {};
    counter waiters_refused = {};
};

class center_core : public std::enable_shared_from_this<center_core> {
public:
    center_core(store& all, semel::runtime& timers, center_options with);

    // Waiters. An errand that waits is kept alive by its place here. False: too many wait already,
    // or waiting has been stopped.
    [[nodiscard]] bool add_waiter(const std::shared_ptr<errand>& who);
    void remove_waiter(const errand& who);
    // An attempt on this record has come to its end here.
    void wake(std::uint64_t hash);
    void stop_waiting();
    [[nodiscard]] bool stopping() const;
    [[nodiscard]] std::size_t waiters() const;

    // Errands under way.
    void enter();
    void leave();
    void wait_until_idle();

    // Constant after construction.
    store& records;
    semel::runtime& runtime;
    const center_options options;

    live_center_counts counts; // thread-safe by themselves

private:
    mutable std::mutex mutex_;
    // By the record's hash. Guarded by mutex_, as all below.
    std::unordered_multimap<std::uint64_t, std::shared_ptr<errand>> waiters_;
    bool stopping_ = false;
    std::size_t under_way_ = 0;
    std::condition_variable idle_;
};

} // namespace semel::edge
