// What all attempts of one engine share.
#pragma once

#include <array>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/home_process.hpp"
#include "core/sweep_plan.hpp"
#include "engine/attempt.hpp"
#include "engine/flights.hpp"
#include "engine/lease_keeper.hpp"
#include "engine/orphans.hpp"
#include "semel/base/mutex.hpp"
#include "semel/engine.hpp"

namespace semel {

// engine_counters, one atomic each.
struct alignas(64) live_counters {
    std::array<std::atomic<std::uint64_t>, 8> outcomes = {}; // by outcome_kind
    std::atomic<std::uint64_t> fenced_completions = 0;
    std::atomic<std::uint64_t> lost_completions = 0;
    std::atomic<std::uint64_t> tombstones = 0;
    std::atomic<std::uint64_t> executions_refused = 0;
    std::atomic<std::uint64_t> swept = 0;
    std::atomic<std::uint64_t> callbacks_threw = 0;
    std::atomic<std::uint64_t> orphans_released = 0;
    std::atomic<std::uint64_t> orphans_left = 0;
};

inline void bump(std::atomic<std::uint64_t>& counter) {
    counter.fetch_add(1, std::memory_order_relaxed);
}

class engine_core : public std::enable_shared_from_this<engine_core> {
public:
    engine_core(std::unique_ptr<store> store, operation_policy defaults, engine_options options);

    // Second step of construction: what needs a shared_ptr to this.
    void open();
    // Refuses new calls, waits for what is under way, up to drain_max.
    enum class ended : std::uint8_t { drained, given_up };
    ended close();
    // Called when close() has waited long enough: gives up the completions that the store does not
    // take.
    [[nodiscard]] bool giving_up() const { return giving_up_.load(std::memory_order_relaxed); }

    [[nodiscard]] raw_outcome run(request&& what, detail::work& work);
    [[nodiscard]] std::shared_ptr<pending_call> start(request what, engine::started_work work,
                                                      unique_function<void(raw_outcome)> done);
    [[nodiscard]] std::vector<consumed>
    consume_batch(const request& scope, std::vector<message> messages,
                  unique_function<void(std::size_t, execution&)>& work);

    // Checks the request and puts its plan together. Refuses everything in a forked child.
    [[nodiscard]] result<plan> make_plan(request&& what) const;
    // Refuses when over executions_max or closing.
    [[nodiscard]] result<void> admit();
    // An admitted attempt is over.
    void leave();
    void on_orphan_over();

    // Called before a request is answered. If the answer is a mismatch, the hook hears of it.
    void report(const raw_outcome& with, const plan& what);

    // Calls code of the user. An exception of that code ends here, so that it does not harm other
    // callers.
    template <class Call> void call_back(std::string_view which, Call call) noexcept {
        try {
            call();
        } catch (...) {
            on_callback_threw(which, std::current_exception());
        }
    }

    [[nodiscard]] owner_id new_owner();
    // For the mutant that sends the client's time: no other code may ask for it.
    [[nodiscard]] time_point client_clock() const;
    [[nodiscard]] engine_counters snapshot() const;
    [[nodiscard]] const operation_policy& policy_of(const std::string& operation) const;

    // Constant after construction.
    const home_process home;
    const operation_policy defaults;
    const engine_options options;
    const std::shared_ptr<semel::runtime> runtime;
    const std::shared_ptr<logger> log;
    const std::unique_ptr<store> records;

    // Thread-safe by themselves.
    live_counters counters;
    flights in_flight;
    lease_keeper keeper;
    orphans orphaned_claims;

private:
    void on_callback_threw(std::string_view which, const std::exception_ptr& thrown) noexcept;
    void notify_drained();
    void sweep();
    void schedule_sweep(duration after);

    sweep_pace pace_; // touched by one sweep at a time, on the chores thread
    alignas(64) std::atomic<std::size_t> running_ = 0;
    std::atomic<bool> closing_ = false;
    std::atomic<bool> giving_up_ = false;
    detail::mutex drained_mutex_;
    detail::condition drained_;
};

} // namespace semel
