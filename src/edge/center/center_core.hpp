// What all requests of one center share.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "edge/api/open_calls.hpp"
#include "edge/center/center.hpp"
#include "semel/base/mutex.hpp"

namespace semel::edge {

class center_call;

class center_core : public std::enable_shared_from_this<center_core> {
public:
    center_core(store& all, semel::runtime& timers, center_options with);

    // Waiters. A call that waits is kept alive by its place here. False: too many wait already, or
    // waiting has been stopped.
    [[nodiscard]] bool add_waiter(const std::shared_ptr<center_call>& who);
    void remove_waiter(const center_call& who);
    // An attempt on this record has come to its end here.
    void wake(std::uint64_t hash);
    void stop_waiting();
    [[nodiscard]] bool stopping() const;
    [[nodiscard]] std::size_t waiters() const;

    // Constant after construction.
    store& records;
    semel::runtime& runtime;
    const center_options options;

    // Thread-safe by themselves.
    center_counts counts; // without `waiting`
    open_calls calls;

private:
    mutable detail::mutex mutex_;
    // By the record's hash.
    std::unordered_multimap<std::uint64_t, std::shared_ptr<center_call>>
        waiters_ SEMEL_GUARDED_BY(mutex_);
    bool stopping_ SEMEL_GUARDED_BY(mutex_) = false;
};

} // namespace semel::edge
