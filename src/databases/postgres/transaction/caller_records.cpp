#include "databases/postgres/transaction/caller_records.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <utility>

#include "databases/postgres/client/last_error.hpp"
#include "databases/postgres/store/row.hpp"
#include "databases/postgres/transaction/transaction_failures.hpp"
#include "databases/postgres/transaction/transaction_values.hpp"

namespace semel::postgres {

namespace {

// Columns of `look`, and behind them those of `enter`.
constexpr int now_column = 0;
constexpr int floor_column = 1;
constexpr int record_column = 2;
constexpr int table_column = 3;
constexpr int isolation_column = 4;
constexpr int taken_column = 5;
constexpr int start_column = 6;

// Before a record with another number of checkpoints than it says is a broken one.
constexpr int looks_max = 10;

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

void caller_records::begin(on_locked locked) {
    watch_errors(in_.handle());
    locked_ = locked;
    held_.begin();
    unsent_.reset();
}

void caller_records::join() {
    locked_ = on_locked::wait;
    held_.join();
}

caller_records::number caller_records::lock_of(const record_id& id) const {
    return big_endian(lock_number(in_.options().table_prefix, id));
}

task<result<void>> caller_records::lock(const record_id& id, locked_record& to) {
    if (held_.now() == sql::phase::none) co_return says.over();
    held_key key{.id = id, .outermost = held_.now() == sql::phase::begun};
    if (!key.outermost && PQtransactionStatus(in_.handle()) != PQTRANS_INTRANS) {
        co_return broken("the transaction is over before its record was read");
    }
    if (!key.outermost) key.token = new_token();
    const auto of = lock_number(in_.options().table_prefix, id);
    const auto number = big_endian(of);
    const bool was_entered = entered();
    auto asked = ask_way_in(key, number);
    auto got = co_await asked;
    if (!got && in_.must_prepare_again(was_entered ? entered_why_ : in_.on().last_failure())) {
        if (!key.outermost) co_return refused(errc::conflict, must_begin_again);
        auto again = co_await prepare_way_in(key, number);
        got = std::move(again);
    }
    if (!got) co_return std::move(got).error();
    held_.sent();
    left_token_.clear();
    const rows& seen = got->back();
    if (seen.count() == 0) co_return no_floor();
    if (auto fits = check_isolation(seen.bytes(0, isolation_column)); !fits) {
        if (!key.outermost || !in_.name_level()) co_return fits;
        auto again = co_await begin_with_level(id, to);
        co_return again;
    }
    if (key.outermost) key.began = seen.bytes(0, start_column);
    if (seen.bytes(0, taken_column) == std::to_string(of)) {
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
    if (read) held_.add(std::move(key));
    co_return read;
}

// The session has another default. From now on each BEGIN costs this session a word.
task<result<void>> caller_records::begin_with_level(const record_id& id, locked_record& to) {
    auto back = co_await in_.on().query("ROLLBACK");
    if (!back) co_return std::move(back).error();
    held_.begin();
    auto again = co_await lock(id, to);
    co_return again;
}

// The answers may have come already.
task<caller_records::answers> caller_records::ask_way_in(const held_key& key, const number& of) {
    if (entered_) return task<answers>{*std::exchange(entered_, std::nullopt)};
    std::vector<call> calls;
    calls.reserve(way_in_calls);
    if (key.outermost) {
        add_way_in(calls, key.id, of);
    } else {
        call& enter = calls.emplace_back(call{in_.texts().enter_joined.name, id_values(key.id)});
        for (const auto value : {view(of), view(key.token), view(left_token_)}) {
            enter.values.push_back(value);
        }
    }
    return in_.on().pipeline(calls);
}

// Of a transaction of our own.
void caller_records::add_way_in(std::vector<call>& to, const record_id& id,
                                const number& of) const {
    to.push_back({in_.begin().name, {}});
    to.push_back({in_.texts().enter.name, id_values(id)});
    to.back().values.push_back(view(of));
}

task<caller_records::answers> caller_records::prepare_way_in(const held_key& key,
                                                             const number& of) {
    // BEGIN may be known where the look is not.
    if (PQtransactionStatus(in_.handle()) == PQTRANS_INERROR) {
        auto back = co_await in_.on().query("ROLLBACK");
        if (!back) co_return std::move(back).error();
    }
    auto ready = co_await in_.prepare();
    if (!ready) co_return std::move(ready).error();
    auto asked = ask_way_in(key, of);
    auto got = co_await asked;
    co_return got;
}

task<caller_records::answers> caller_records::wait_for_lock(const held_key& key, const number& of) {
    const std::string patience = milliseconds(in_.options().lock_wait);
    const transaction_texts& texts = in_.texts();
    std::vector<call> calls;
    calls.push_back({texts.patience.name, {view(patience)}});
    calls.push_back({texts.wait.name, {view(of)}});
    calls.push_back({texts.restore.name, {}});
    calls.push_back({texts.look.name, id_values(key.id)});
    auto got = co_await in_.on().pipeline(calls);
    co_return got;
}

void caller_records::expect(succession with) {
    entered_ = std::move(with.got);
    entered_why_ = std::move(with.why);
}

// ---- the record ---------------------------------------------------------------------------------

result<void> caller_records::read_look(const rows& seen, held_key& key, locked_record& to) {
    key.has_checkpoints = false;
    if (seen.count() == 0) return no_floor();
    key.table = seen.bytes(0, table_column);
    if (auto same = in_.check_place(key.table); !same) return same;
    to.stored.reset();
    to.at = {.now = read_timestamp(seen.bytes(0, now_column)),
             .fence_floor = static_cast<std::uint64_t>(seen.integer(0, floor_column))};
    if (seen.is_null(0, record_column)) return {};
    auto read = read_record(seen.bytes(0, record_column));
    if (!read) return std::move(read).error();
    key.has_checkpoints = !read->checkpoints.empty();
    key.seen_at = read->updated_at;
    to.stored = *std::move(read);
    return {};
}

failure caller_records::no_floor() const {
    return refused(errc::corrupt, "the fence floor is missing in the table " +
                                      in_.options().table_prefix + "meta; restore it");
}

// With its checkpoints. A lease does not take the lock: the record may get some, or lose them,
// between the look and the statement behind it.
task<result<void>> caller_records::read_whole(result<void> read, held_key& key, locked_record& to) {
    for (int turn = 1;; ++turn) {
        if (read && key.has_checkpoints) {
            auto filled = co_await read_steps(key, to.stored->checkpoints);
            read = std::move(filled);
        }
        if (read || read.error().code != errc::corrupt || turn == looks_max) co_return read;
        const std::vector<call> again{{in_.texts().look.name, id_values(key.id)}};
        auto seen = co_await in_.on().pipeline(again);
        if (!seen) co_return std::move(seen).error();
        read = read_look(seen->back(), key, to);
    }
}

task<result<void>> caller_records::read_steps(const held_key& key, std::vector<checkpoint>& to) {
    const std::vector<call> what{{in_.texts().steps.name, id_values(key.id)}};
    const auto got = co_await in_.on().pipeline(what);
    if (!got) co_return got.error();
    const rows& all = got->front();
    if (all.count() != static_cast<int>(to.size())) {
        co_return refused(errc::corrupt, "a record has not as many checkpoints as it says");
    }
    for (int row = 0; row < all.count(); ++row) {
        to[static_cast<std::size_t>(row)] = {.name = std::string{all.bytes(row, 0)},
                                             .data = std::string{all.bytes(row, 1)}};
    }
    co_return result<void>{};
}

// ---- the write ----------------------------------------------------------------------------------

void caller_records::leave(const record_id& id) {
    if (auto key = held_.take(id)) left_token_ = std::move(key->token);
}

task<result<void>> caller_records::save(const record_id& id, const record& after,
                                        std::uint64_t seen_fence) {
    using done = task<result<void>>;
    auto key = held_.take(id);
    if (!key) return done{says.not_locked()};
    if (auto fits = in_.check_work_left(); !fits) return done{std::move(fits)};
    if (!held_.goes_with_commit(*key)) {
        return write_now(make_write(*std::move(key), after, seen_fence));
    }
    unsent_.emplace(make_write(*std::move(key), after, seen_fence));
    return done{result<void>{}};
}

caller_records::unsent_write caller_records::make_write(held_key key, const record& after,
                                                        std::uint64_t seen_fence) const {
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

task<result<void>> caller_records::write_now(unsent_write made) {
    std::vector<call> calls;
    add_calls(calls, made);
    calls.push_back({in_.texts().unmark.name, {view(made.key.token)}});
    auto done = co_await in_.on().pipeline(calls);
    if (!done) co_return explain(std::move(done).error());
    co_return result<void>{};
}

void caller_records::add_write(std::vector<call>& to) const {
    if (unsent_) add_calls(to, *unsent_);
}

void caller_records::add_calls(std::vector<call>& to, const unsent_write& from) const {
    const transaction_texts& texts = in_.texts();
    call write{from.usual ? texts.add.name : texts.replace.name, id_values(from.key.id)};
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
    if (from.key.has_checkpoints) to.push_back({texts.forget.name, id_values(from.key.id)});
}

failure caller_records::explain(failure why) {
    return explained(std::move(why), in_.on().last_failure(), in_.options().table_prefix);
}

} // namespace semel::postgres
