#include "databases/postgres/transaction/caller_transaction.hpp"

#include <libpq-fe.h>

#include <algorithm>

#include "databases/postgres/client/last_error.hpp"
#include "databases/postgres/store/row.hpp"
#include "databases/postgres/transaction/transaction_failures.hpp"
#include "databases/postgres/transaction/transaction_values.hpp"

namespace semel::postgres {

namespace {

// Columns of `enter`, behind those of `look`.
constexpr int isolation_column = 4;
constexpr int taken_column = 5;
constexpr int start_column = 6;

constexpr const char* must_begin_again = "the session has forgotten semel's statements (a pooler "
                                         "must be in session mode), or sees other "
                                         "tables than before; roll back and begin again";

// For lock_timeout, where zero would be for ever.
std::string milliseconds(duration length) {
    const auto count = std::chrono::ceil<std::chrono::milliseconds>(length).count();
    return std::to_string(std::max<decltype(count)>(count, 1));
}

} // namespace

// ---- the way in ---------------------------------------------------------------------------------

result<void> caller_transaction::check_idle() {
    if (PQpipelineStatus(handle_) != PQ_PIPELINE_OFF) {
        return refused(errc::invalid_argument,
                       "the connection is in pipeline mode; leave it first");
    }
    if (PQtransactionStatus(handle_) == PQTRANS_ACTIVE) {
        return refused(errc::invalid_argument, "a query is under way on this connection");
    }
    return {};
}

// What the work has left: statements that it has queued in a pipeline go with the record, but any
// other query under way would stand in its way.
result<void> caller_transaction::check_work_left() {
    if (PQpipelineStatus(handle_) != PQ_PIPELINE_OFF) return {};
    switch (PQtransactionStatus(handle_)) {
    case PQTRANS_ACTIVE:
        return broken("the work has left a query under way; read all that it gives, or call "
                      "PQenterPipelineMode before it is sent, to leave it for COMMIT");
    case PQTRANS_IDLE: return broken("the work has ended the transaction it ran in");
    case PQTRANS_UNKNOWN:
        return refused(errc::unavailable, "the connection was lost while the work ran");
    default: return {};
    }
}

// The owner of the connection may have made it anew.
void caller_transaction::forget_lost_connection() {
    if (on_.forget_lost()) prepared_ = false;
}

// Mostly there is nothing to wait for.
task<result<void>> caller_transaction::begin(on_locked locked) {
    if (home_.left()) {
        return task<result<void>>{opened_before_fork("postgres: the connection")};
    }
    if (entered_) {
        reset(locked);
        return task<result<void>>{result<void>{}};
    }
    if (!usable() || on_.lost() || !prepared_) return begin_unprepared(locked);
    return task<result<void>>{start(locked)};
}

// A pooled connection that is not idle was left by a call that could not end its transaction.
bool caller_transaction::usable() const {
    return PQstatus(handle_) == CONNECTION_OK &&
           (!keeps_connected_ || PQtransactionStatus(handle_) == PQTRANS_IDLE);
}

task<result<void>> caller_transaction::begin_unprepared(on_locked locked) {
    if (!usable()) {
        auto back = co_await reconnect();
        if (!back) co_return back;
    }
    forget_lost_connection();
    tell_made_anew();
    if (auto fits = check_outside(); !fits) co_return fits;
    on_.do_not_block();
    if (!prepared_) {
        auto ready = co_await prepare();
        if (!ready) co_return ready;
    }
    co_return start(locked);
}

result<void> caller_transaction::check_outside() {
    if (auto idle = check_idle(); !idle) return idle;
    if (PQtransactionStatus(handle_) == PQTRANS_IDLE) return {};
    return refused(errc::invalid_argument, "the connection is in a transaction already; end it, or "
                                           "use execute_in");
}

// BEGIN itself waits for the first lock.
result<void> caller_transaction::start(on_locked locked) {
    if (auto fits = check_outside(); !fits) return fits;
    reset(locked);
    return {};
}

void caller_transaction::reset(on_locked locked) {
    watch_errors(handle_);
    owner_ = owner::us;
    begun_ = false;
    locked_ = locked;
    held_.clear();
    unsent_.reset();
}

task<result<void>> caller_transaction::join() {
    if (home_.left()) co_return opened_before_fork("postgres: the connection");
    if (auto idle = check_idle(); !idle) co_return idle;
    const auto status = PQtransactionStatus(handle_);
    if (status == PQTRANS_INERROR) {
        co_return refused(errc::invalid_argument,
                          "the transaction has failed already; roll it back");
    }
    if (status != PQTRANS_INTRANS) {
        co_return refused(errc::invalid_argument,
                          "the connection is in no transaction; begin one, or use transact");
    }
    forget_lost_connection();
    if (!prepared_) {
        auto ready = co_await prepare();
        if (!ready) co_return ready;
    }
    // Within the work of a transact() of our own it stays ours.
    if (owner_ != owner::us) owner_ = owner::caller;
    begun_ = true;
    locked_ = on_locked::wait;
    co_return result<void>{};
}

void caller_transaction::keep_connected(std::function<void(pg_conn*)> made_anew) {
    keeps_connected_ = true;
    tells_made_anew_ = std::move(made_anew);
}

void caller_transaction::tell_made_anew() {
    if (must_tell_ && tells_made_anew_) tells_made_anew_(handle_);
    must_tell_ = false;
}

// Of a caller's connection only to learn what became of a COMMIT: the server may be on its way up
// again.
task<result<void>> caller_transaction::reconnect() {
    if (!in_doubt_ && !keeps_connected_) {
        co_return refused(errc::unavailable, "the connection is lost; PQreset or replace it");
    }
    const bool back = co_await on_.reset(local_clock::now() + options_.doubt_wait);
    if (!back) {
        co_return refused(errc::unavailable, "the connection was lost and could not be made anew");
    }
    in_doubt_ = false;
    prepared_ = false;
    must_tell_ = true;
    // Who shares connections has to see to it for each caller.
    made_anew_ = !keeps_connected_;
    co_return result<void>{};
}

// ---- the record ---------------------------------------------------------------------------------

task<result<void>> caller_transaction::lock(const record_id& id, locked_record& to) {
    if (owner_ == owner::nobody) co_return broken("the transaction is over");
    if (begun_ && PQtransactionStatus(handle_) != PQTRANS_INTRANS) {
        co_return broken("the transaction is over before its record was read");
    }
    held_key key{.id = id, .outermost = !begun_};
    if (!key.outermost) key.token = new_token();
    const auto of = lock_number(options_.table_prefix, id);
    const auto number = big_endian(of);
    const bool was_entered = entered();
    auto asked = ask_way_in(key, number);
    auto got = co_await asked;
    if (!got && must_prepare_again(was_entered ? entered_why_ : on_.last_failure())) {
        if (begun_) co_return refused(errc::conflict, must_begin_again);
        auto again = co_await prepare_way_in(key, number);
        got = std::move(again);
    }
    if (!got) co_return std::move(got).error();
    begun_ = true;
    left_token_.clear();
    if (got->back().count() == 0) co_return no_floor();
    auto fits = check_isolation(got->back().bytes(0, isolation_column));
    if (!fits && key.outermost && !says_level_) {
        // The session has another default. From now on it costs this one a word.
        says_level_ = true;
        auto back = co_await on_.query("ROLLBACK");
        if (!back) co_return std::move(back).error();
        begun_ = false;
        auto again = co_await lock(id, to);
        co_return again;
    }
    if (!fits) co_return fits;
    if (key.outermost) key.began = got->back().bytes(0, start_column);
    if (got->back().bytes(0, taken_column) == std::to_string(of)) {
        if (locked_ == on_locked::answer) {
            co_return refused(errc::conflict, "another transaction executes this key");
        }
        auto waited = co_await wait_for_lock(key, number);
        if (!waited) co_return std::move(waited).error();
        got = std::move(waited);
    }
    auto read = read_look(got->back(), key, to);
    if (!read || key.has_checkpoints) {
        auto whole = co_await read_whole(std::move(read), key, to);
        read = std::move(whole);
    }
    if (read) held_.push_back(std::move(key));
    co_return read;
}

// It may have been asked already.
task<result<std::vector<rows>>> caller_transaction::ask_way_in(const held_key& key,
                                                               const number& of) {
    if (entered_) {
        using answers = result<std::vector<rows>>;
        return task<answers>{*std::exchange(entered_, std::nullopt)};
    }
    std::vector<call> calls;
    calls.reserve(way_in_calls);
    if (key.outermost) {
        add_way_in(calls, key.id, of);
    } else {
        call& enter = calls.emplace_back(call{texts_.enter_joined.name, id_values(key.id)});
        for (const auto value : {view(of), view(key.token), view(left_token_)}) {
            enter.values.push_back(value);
        }
    }
    return on_.pipeline(calls);
}

// Of a transaction of our own.
void caller_transaction::add_way_in(std::vector<call>& to, const record_id& id,
                                    const number& of) const {
    to.push_back({says_level_ ? texts_.begin_committed.name : texts_.begin.name, {}});
    to.push_back({texts_.enter.name, id_values(id)});
    to.back().values.push_back(view(of));
}

task<result<std::vector<rows>>> caller_transaction::wait_for_lock(const held_key& key,
                                                                  const number& of) {
    const std::string patience = milliseconds(options_.lock_wait);
    std::vector<call> calls;
    calls.push_back({texts_.patience.name, {view(patience)}});
    calls.push_back({texts_.wait.name, {view(of)}});
    calls.push_back({texts_.restore.name, {}});
    calls.push_back({texts_.look.name, id_values(key.id)});
    auto got = co_await on_.pipeline(calls);
    co_return got;
}

caller_transaction::unsent_write caller_transaction::make_write(held_key key, const record& after,
                                                                std::uint64_t seen_fence) {
    unsent_write made{.key = std::move(key),
                      .usual = seen_fence == 0 && is_usual(after),
                      .seen_fence = big_endian(static_cast<std::int64_t>(seen_fence)),
                      .seen_at = {},
                      .record = {}};
    made.seen_at = big_endian(made.key.seen_at.time_since_epoch().count());
    if (made.usual) {
        add_usual(made.record, after);
    } else {
        add_record(made.record, after);
    }
    return made;
}

void caller_transaction::add_calls(std::vector<call>& to, const unsent_write& from) const {
    call write{from.usual ? texts_.add.name : texts_.replace.name, id_values(from.key.id)};
    write.values.reserve(write.values.size() + record_columns.size() + 5);
    write.values.push_back(view_or_null(from.key.token));
    write.values.push_back(view_or_null(from.key.began));
    write.values.push_back(view(from.key.table));
    from.record.append_to(write.values);
    if (!from.usual) {
        write.values.push_back(view(from.seen_fence));
        write.values.push_back(view(from.seen_at));
    }
    to.push_back(std::move(write));
    if (from.key.has_checkpoints) to.push_back({texts_.forget.name, id_values(from.key.id)});
}

failure caller_transaction::explain(failure why) const {
    return explained(std::move(why), on_.last_failure(), options_.table_prefix);
}

// With all that was locked after it: calls nest.
std::optional<caller_transaction::held_key> caller_transaction::take_held(const record_id& id) {
    const auto at = std::find_if(held_.rbegin(), held_.rend(),
                                 [&](const held_key& one) { return one.id == id; });
    if (at == held_.rend()) return std::nullopt;
    held_key key = std::move(*at);
    held_.erase(std::next(at).base(), held_.end());
    return key;
}

void caller_transaction::leave(const record_id& id) {
    if (auto key = take_held(id)) left_token_ = std::move(key->token);
}

task<result<void>> caller_transaction::save(const record_id& id, const record& after,
                                            std::uint64_t seen_fence) {
    using done = task<result<void>>;
    auto key = take_held(id);
    if (!key) return done{broken("the record was not locked in this transaction")};
    if (auto fits = check_work_left(); !fits) return done{std::move(fits)};
    // Our own COMMIT follows at once and takes it along; what a caller commits must be there now.
    const bool later = owner_ == owner::us && key->outermost;
    if (!later) return write(make_write(*std::move(key), after, seen_fence));
    unsent_.emplace(make_write(*std::move(key), after, seen_fence));
    return done{result<void>{}};
}

task<result<void>> caller_transaction::write(unsent_write made) {
    std::vector<call> calls;
    add_calls(calls, made);
    calls.push_back({texts_.unmark.name, {view(made.key.token)}});
    auto done = co_await on_.pipeline(calls);
    if (!done) co_return explain(std::move(done).error());
    co_return result<void>{};
}

} // namespace semel::postgres
