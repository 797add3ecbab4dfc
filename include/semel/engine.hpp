// The engine: runs work exactly once per record id and gives every repeat the first answer.
//
//   auto store  = semel::open_store("sqlite:orders.db").value();
//   auto engine = semel::engine{std::move(store), {.lease = 30s, .retention = 24h}};
//   auto outcome = engine.execute<std::string>(
//       {.tenant = "acme", .operation = "ORDER_CREATE", .key = key,
//        .content = semel::fingerprint::json(body)},
//       [&](semel::execution& run) { return create_order(body, run.child_key("payment")); });
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "semel/base/runtime.hpp"
#include "semel/core/policy.hpp"
#include "semel/core/search.hpp"
#include "semel/engine/detail/work.hpp"
#include "semel/engine/execution.hpp"
#include "semel/engine/request.hpp"
#include "semel/log.hpp"
#include "semel/store.hpp"
#include "semel/transaction.hpp"

namespace semel {

struct engine_options {
    std::map<std::string, operation_policy> operations = {}; // others use the default policy
    semel::limits limits = {};
    sweep_options sweep = {};
    // How long the engine asks a store that cannot answer, before it tells a caller "unavailable".
    duration store_patience = std::chrono::seconds{5};
    // How long a caller waits for its completion to be acknowledged before it is told
    // "unconfirmed".
    duration confirm_max = std::chrono::seconds{10};
    // How long a completion goes on in the background, and how long the claim of a begin is looked
    // for whose answer never came.
    duration completion_patience = std::chrono::minutes{10};
    // How long the destructor waits for attempts, transactions and look-ups that are under way.
    duration drain_max = std::chrono::seconds{30};
    // Told of every mismatch, on whatever thread found it. Short; must neither call the engine nor
    // throw, as said at engine::start().
    std::function<void(const mismatch_seen&)> on_mismatch = {};
    std::shared_ptr<logger> log = {};             // default: spdlog to stderr, warnings and above
    std::shared_ptr<semel::runtime> runtime = {}; // default: open_system_runtime()
};

// What the engine has counted since it began.
struct engine_counters {
    std::uint64_t executed = 0, replayed = 0, in_progress = 0, mismatched = 0, failed = 0;
    std::uint64_t in_doubt = 0, unconfirmed = 0, unavailable = 0;
    std::uint64_t lost_leases = 0;        // renewals refused or unanswered in time
    std::uint64_t fenced_completions = 0; // work whose result was dropped for the winner's
    std::uint64_t lost_completions = 0;   // given up after completion_patience
    std::uint64_t tombstones = 0;         // effects whose body was not kept
    std::uint64_t waiters_refused = 0;    // over waiters_per_key_max or waiters_max
    std::uint64_t executions_refused = 0; // over executions_max
    std::uint64_t swept = 0;              // records removed by the sweeper
    std::uint64_t callbacks_threw = 0;    // their exceptions were dropped
    std::uint64_t orphans_released = 0;   // claims that no caller had heard of, given back
    std::uint64_t orphans_left = 0;       // not looked for to the end, or over orphans_max
    std::uint64_t running = 0, waiting = 0, orphans = 0; // now
};

struct message {
    std::string key = {};
    std::optional<fingerprint> content = {};
};

// What engine::once() runs once: an id of this application. Equal ids of two applications that
// share a store are two ids. Empty names are refused.
struct application_id {
    std::string application;
    std::string id;
};

class engine_core;

namespace detail {
struct transaction_start;
}

// Thread-safe. The destructor drains: it waits for attempts, transactions and completions that are
// under way on other threads (up to drain_max). Calls that come meanwhile are refused.
//
// Blocking calls run the work on the calling thread. Once the work has succeeded, nothing the
// caller does keeps its result from being stored. Bad input (empty or over-long names, zero or
// negative durations …) is an `unavailable` outcome whose why() has errc::invalid_argument or
// limit_exceeded, before anything was sent or run.
//
// Open it after fork(). In a child that was forked later every call is such an outcome with
// errc::unsupported, and the destructor leaves everything to the parent: end the child with _exit.
class engine {
public:
    explicit engine(std::unique_ptr<store> store, operation_policy defaults = {},
                    engine_options options = {});
    engine(engine&&) noexcept;
    engine& operator=(engine&&) noexcept;
    ~engine();

    // Runs `work` once for this record id. The work takes `execution&` (or nothing) and returns T
    // or verdict<T>. Its own exception reaches the caller that ran it unchanged; repeats get
    // `failed`.
    template <class T, class Work> outcome<T> execute(request what, Work&& work) {
        detail::typed_work<T, std::remove_reference_t<Work>> typed{work};
        raw_outcome raw = run(std::move(what), typed);
        return typed.finish(std::move(raw));
    }

    // For messages: a duplicate is acknowledged, one in progress is redelivered later. `scope`
    // names tenant, operation, key and content; its wait mode is "answer".
    template <class Work> consumed consume(request scope, duration retention, Work&& work) {
        scope.with.retention = retention;
        scope.with.wait = wait_mode::answer;
        return detail::as_consumed(
            execute<void>(std::move(scope), std::forward<Work>(work)).kind());
    }

    // N messages, one store round trip for all claims and one for all completions. `work` is called
    // as work(index, execution&) for each new one, in order, on this thread; an exception makes
    // that item `failed` and does not stop the others. One answer per item; `failed` also where a
    // record fails its checksum, which asking again does not change.
    std::vector<consumed> consume_batch(const request& scope, std::vector<message> messages,
                                        unique_function<void(std::size_t, execution&)> work);

    // Plain deduplication: runs `action` unless this application's id has come within the default
    // retention. Its record has the application as tenant and the operation "once".
    template <class Action> consumed once(application_id which, Action&& action) {
        return consume({.tenant = std::move(which.application),
                        .operation = "once",
                        .key = std::move(which.id)},
                       default_retention(), [&] { action(); });
    }

    // Begins a transaction, runs `work`, stores its record, and commits: exactly once, whatever
    // crashes. After a deadlock the work runs again, in a new transaction. semel/transaction/*.hpp
    // have the handles. The work takes `execution&`, the handle's connection, both in this order,
    // or nothing.
    template <class T, blocking_transaction Handle, class Work>
    outcome<T> transact(Handle&& on, request what, Work&& work) {
        return in_transaction<T>(on, std::move(what), work, detail::transaction_owner::engine);
    }

    // The same inside a transaction that the caller owns. It never commits: the outcome is
    // provisional until the caller has committed. If the outcome is neither executed nor replayed,
    // roll back.
    template <class T, blocking_transaction Handle, class Work>
    requires(std::remove_cvref_t<Handle>::joins) outcome<T> execute_in(Handle&& on, request what,
                                                                       Work&& work) {
        return in_transaction<T>(on, std::move(what), work, detail::transaction_owner::caller);
    }

    // transact() and execute_in() for callers that do not block: deferred operations for Asio;
    // include semel/asio/transaction.hpp, where they are defined. The operation keeps a temporary
    // handle; any other handle must outlive it. Run one at a time on a connection. They cannot be
    // cancelled: a transaction goes to its end.
    template <class T, suspending_transaction Handle, class Work>
    auto async_transact(Handle&& on, request what, Work work);
    template <class T, suspending_transaction Handle, class Work>
    requires(std::remove_cvref_t<Handle>::joins) auto async_execute_in(Handle&& on, request what,
                                                                       Work work);

    // A deferred operation for Asio; include semel/asio.hpp, where it is defined.
    template <class T, class Work> auto async_execute(request what, Work work);

    // The callback form under it. `work` is started without blocking and ends by calling its
    // `done`, once, from any thread. The returned handle cancels *waiting*; work that has begun
    // runs on and is stored.
    //
    // `done` of this call is called once, on any thread. It must be short and must not throw (think
    // of it as noexcept). What it throws all the same is logged, counted (callbacks_threw) and
    // dropped: the outcome is stored by then, and no other caller loses its answer.
    using started_work = unique_function<void(execution&, unique_function<void(work_end)>)>;
    std::shared_ptr<pending_call> start(request what, started_work work,
                                        unique_function<void(raw_outcome)> done);

    // The store, for operators and reconcilers. Commands given here bypass the engine's own
    // book-keeping.
    [[nodiscard]] store& records();
    [[nodiscard]] engine_counters counters() const;
    [[nodiscard]] duration default_retention() const;

private:
    raw_outcome run(request&& what, detail::work& work);
    raw_outcome run_transaction(transaction& on, request what, detail::work& work,
                                detail::transaction_owner commits);
    template <class T, class Handle, class Work>
    outcome<T> in_transaction(Handle& on, request what, Work& work,
                              detail::transaction_owner commits) {
        detail::connected_work<Handle*, Work&> connected{&on, work};
        detail::typed_work<T, decltype(connected)> typed{connected};
        raw_outcome raw = run_transaction(on, std::move(what), typed, commits);
        return typed.finish(std::move(raw));
    }
    friend struct detail::transaction_start;

    // Shared with attempts whose completion goes on after drain_max.
    std::shared_ptr<engine_core> core_;
};

namespace detail {

// The callback form under the async calls, like engine::start().
struct transaction_start {
    engine& with;
    transaction& on; // outlives the transaction
    transaction_owner commits = transaction_owner::engine;
    void operator()(request what, engine::started_work work,
                    unique_function<void(raw_outcome)> done) const;
};

} // namespace detail

} // namespace semel
