#include "databases/mysql/transaction/caller_transaction.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <thread>

#include "databases/mysql/client/schema.hpp"
#include "databases/mysql/store/row.hpp"
#include "databases/mysql/store/statements.hpp"
#include "databases/mysql/transaction/failures.hpp"

namespace semel::mysql {

namespace {

// A row that is neither inserted nor found comes and goes.
constexpr int turns_max = 3;

constexpr duration reconnect_pause = std::chrono::milliseconds{50};

// Such a record is answered from, not taken: no lock is needed.
bool settled(const record& it, time_point now) {
    if (it.state == record_state::processing) return now < it.lease_until;
    return it.state != record_state::failed_retryable && now < it.expires_at;
}

void add_policy(row_buffer& to, const record_policy& from) {
    to.add(static_cast<std::int64_t>(from.on_lease_expiry)).add(std::int64_t{from.attempts_max});
    to.add(from.grace).add(from.processing_max);
}

} // namespace

// ---- the way in ---------------------------------------------------------------------------------

result<void> caller_transaction::check_usable() {
    if (!valid_prefix(options_.table_prefix)) {
        return says.no_prefix(options_.table_prefix);
    }
    if (!on_.idle()) {
        return refused(errc::invalid_argument,
                       "the result of a query is not fetched yet on this connection");
    }
    return {};
}

void caller_transaction::keep_connected(std::function<void(st_mysql*)> on_reconnect) {
    keeps_connected_ = true;
    on_reconnect_ = std::move(on_reconnect);
}

result<void> caller_transaction::begin(on_locked locked) {
    if (home_.left()) return opened_before_fork("mysql: the connection");
    if (on_.lost()) {
        if (auto back = reconnect(); !back) return back;
    }
    if (auto usable = check_usable(); !usable) return usable;
    // Also where the work of a transact() has ended its transaction.
    if (on_.in_transaction() || open_) {
        return says.in_transaction();
    }
    autocommits_ = on_.autocommits();
    on_.forget_deadlock();
    held_.begin();
    locked_ = locked;
    database_.reset();
    own_claim_.reset();
    unsent_.reset();
    return {};
}

result<void> caller_transaction::join() {
    if (home_.left()) return opened_before_fork("mysql: the connection");
    if (auto usable = check_usable(); !usable) return usable;
    // Without autocommit every statement is in a transaction.
    if (!on_.in_transaction() && on_.autocommits()) {
        return says.in_no_transaction();
    }
    held_.join();
    return {};
}

// Only to learn what became of a COMMIT: the server may be on its way up again.
result<void> caller_transaction::reconnect() {
    if (!in_doubt_ && !keeps_connected_) {
        return refused(errc::unavailable, "the connection is lost; replace it");
    }
    const local_time deadline = local_clock::now() + options_.doubt_wait;
    while (!on_.reconnect(deadline)) {
        if (local_clock::now() >= deadline) {
            return refused(errc::unavailable, "the connection was lost, and a new one failed");
        }
        std::this_thread::sleep_for(reconnect_pause);
    }
    in_doubt_ = false;
    if (on_reconnect_) on_reconnect_(handle_);
    if (database_) on_.use(*database_);
    if (autocommits_) return {};
    auto as_before = on_.run({{"SET autocommit=0"}});
    if (!as_before) return std::move(as_before).error();
    return {};
}

// ---- the record ---------------------------------------------------------------------------------

result<locked_record> caller_transaction::lock(const record_id& id) {
    if (held_.now() == sql::phase::none) return says.over();
    if (auto fits = check_size(id); !fits) return std::move(fits).error();
    const bool outermost = held_.now() == sql::phase::begun;
    const held_key key{.id = id,
                       .inner = outermost ? own_savepoint : new_savepoint(),
                       .outer = new_savepoint(),
                       .outermost = outermost};
    held_.sent();
    if (outermost) open_ = true;
    const local_time deadline = local_clock::now() + options_.lock_wait;
    while (true) {
        auto got = enter(key);
        if (got) return got;
        if (!outermost) {
            undo(key);
            return got;
        }
        // Several that wait for one new row are in each other's way where its transaction is
        // rolled back. Nothing of ours has been done yet.
        if (on_.failed_with() != number::deadlock || local_clock::now() >= deadline) return got;
        on_.forget_deadlock();
    }
}

// A new key costs one statement if its row is inserted at once, a repeat if it is looked for first.
// A caller's transaction looks first: a row that is in the way of an insert would be locked
// together with the gap in front of it.
result<locked_record> caller_transaction::enter(held_key key) {
    locked_record to;
    bool first = true;
    bool claimed = false;
    if (key.outermost && expects_new_) {
        auto made = claim(key, to, std::exchange(first, false));
        if (!made) return std::move(made).error();
        claimed = *made;
    }
    if (!claimed) {
        if (auto seen = look(key, to, first); !seen) return std::move(seen).error();
    }
    for (int turn = 0; !claimed && !(to.stored && settled(*to.stored, to.at.now)); ++turn) {
        if (turn == turns_max) return refused(errc::conflict, "the record comes and goes");
        if (!to.stored) {
            auto made = claim(key, to, false);
            if (!made) return std::move(made).error();
            claimed = *made;
        }
        if (claimed) break;
        if (auto locked = lock_row(key, to); !locked) return std::move(locked).error();
        if (to.stored) break;
    }
    expects_new_ = claimed;
    if (key.outermost) {
        database_ = key.database;
        if (claimed) own_claim_ = key;
    }
    held_.add(std::move(key));
    return to;
}

std::vector<statement> caller_transaction::way_in(const held_key& key) {
    std::vector<statement> all;
    if (key.outermost) {
        add_begin(all, autocommits_);
        return all;
    }
    all.push_back(clock_check());
    // Only the server knows a level that was set for this transaction alone.
    all.push_back({transaction_texts::sees_committed_only(on_.isolation_variable()),
                   statement::expects::truth,
                   refused(errc::unsupported,
                           "in READ UNCOMMITTED a look-up sees what may be rolled back; use "
                           "another isolation level")});
    add_transaction_check(all);
    all.push_back({"SAVEPOINT " + key.outer});
    all.push_back({"SAVEPOINT " + key.inner});
    return all;
}

duration caller_transaction::patience(const held_key& key) const {
    return key.outermost && locked_ == on_locked::answer ? duration{} : options_.lock_wait;
}

result<void> caller_transaction::look(held_key& key, locked_record& to, bool first) {
    const auto ask = [&] {
        std::vector<statement> all;
        if (first) all = way_in(key);
        all.push_back({texts_.look(key.id, transaction_texts::with::nothing)});
        all.push_back({texts_.facts()});
        return on_.run(all);
    };
    auto got = ask();
    if (!got && on_.renames_isolation_variable()) got = ask();
    if (!got && got.error().code == errc::transaction_broken) {
        return refused(errc::invalid_argument, no_transaction_any_more);
    }
    if (!got) return std::move(got).error();
    return read(*got, key, to);
}

// In the order of `look` with a lock: a removal raises the floor before it removes the row.
result<void> caller_transaction::read(std::vector<rows>& got, held_key& key, locked_record& to) {
    to.stored.reset();
    rows& facts = got.back();
    if (!facts.next()) return no_floor();
    const reading read{.now = facts.time(fact::now),
                       .floor = facts.integer(fact::floor),
                       .schema = facts.integer(fact::schema)};
    if (auto fits = take_facts(read, key, to); !fits) return fits;
    key.database = facts.bytes(fact::database);
    if (got.size() < 2) return {};
    rows& seen = got[got.size() - 2];
    if (!seen.next()) return {};
    auto row = read_record_row(seen, looked::record);
    if (!row) return std::move(row).error();
    key.version = seen.integer(looked::version);
    key.has_checkpoints = row->checkpoints > 0;
    to.stored = std::move(row->it);
    return key.has_checkpoints ? read_checkpoints(*to.stored, key.id) : result<void>{};
}

result<void> caller_transaction::take_facts(const reading& got, held_key& key, locked_record& to) {
    key.now = got.now;
    to.at = {.now = got.now, .fence_floor = static_cast<std::uint64_t>(got.floor)};
    return check_version(got.schema, options_.table_prefix);
}

// Or the tables are not whole yet.
failure caller_transaction::no_floor() {
    auto got = on_.run({{texts_.schema_version()}});
    if (!got) return std::move(got).error();
    rows& version = got->front();
    const auto found = version.next() ? version.integer(0) : 0;
    if (auto fits = check_version(found, options_.table_prefix); !fits) {
        return std::move(fits).error();
    }
    return refused(errc::corrupt, "the fence floor is missing in the table " +
                                      options_.table_prefix + "meta; restore it");
}

result<void> caller_transaction::read_checkpoints(record& to, const record_id& id) {
    auto got = on_.run({{texts_.checkpoints(id)}});
    if (!got) return std::move(got).error();
    rows& all = got->front();
    while (all.next()) {
        to.checkpoints.push_back(
            {.name = std::string{all.bytes(0)}, .data = std::string{all.bytes(1)}});
    }
    return {};
}

result<std::vector<rows>> caller_transaction::run_waiting(std::vector<statement> all,
                                                          const held_key& key) {
    const duration most = patience(key);
    // MySQL waits a second at least, but not for a row that it finds locked.
    if (most == duration{} && on_.dialect() != mysql_dialect::mariadb) {
        const auto last = std::prev(all.end(), 2);
        all.insert(last, {texts_.find_unlocked(key.id)});
    }
    auto got = on_.run_waiting(all, most);
    if (got) return got;
    return waited_enough(key, std::move(got).error());
}

failure caller_transaction::waited_enough(const held_key& key, failure why) const {
    const bool at_once = patience(key) == duration{};
    if (at_once && why.code == errc::timed_out) why.code = errc::conflict;
    return why;
}

result<void> caller_transaction::lock_row(held_key& key, locked_record& to) {
    auto got =
        run_waiting({{texts_.look(key.id, transaction_texts::with::lock)}, {texts_.facts()}}, key);
    if (!got) return std::move(got).error();
    return read(*got, key, to);
}

// ---- the row of a new key -----------------------------------------------------------------------

result<bool> caller_transaction::claim(held_key& key, locked_record& to, bool first) {
    key.version = new_row_version();
    key.claimed = expected_;
    to.stored.reset();
    const bool kept = first && own_.prepare(autocommits_);
    auto done = kept ? claim_kept(key, to) : claim_plain(key, to, first);
    if (!done && kept && own_.was_forgotten()) done = claim_plain(key, to, first);
    if (done) return true;
    key.version.reset();
    key.claimed.reset();
    if (on_.failed_with() == number::duplicate_key) return false;
    return std::move(done).error();
}

result<void> caller_transaction::claim_plain(held_key& key, locked_record& to, bool first) {
    row_buffer row{quoting::hex};
    add_id(row.add_row(), key.id);
    row.add(*key.version).add(key.claimed->lease).add(key.claimed->retention);
    add_policy(row, key.claimed->policy);
    std::vector<statement> all;
    if (first) all = way_in(key);
    all.push_back({texts_.claim(row, clock_expression)});
    all.push_back({texts_.facts()});
    auto got = run_waiting(std::move(all), key);
    if (!got) return std::move(got).error();
    return read(*got, key, to);
}

result<void> caller_transaction::claim_kept(held_key& key, locked_record& to) {
    const terms& with = *key.claimed;
    const kept_value values[]{
        key.id.tenant,
        key.id.operation,
        key.id.key,
        *key.version,
        with.lease.count(),
        with.retention.count(),
        static_cast<std::int64_t>(with.policy.on_lease_expiry),
        std::int64_t{with.policy.attempts_max},
        with.policy.grace.count(),
        with.policy.processing_max.count(),
    };
    auto got = own_.claim(values, locked_ == on_locked::wait);
    if (!got) return waited_enough(key, std::move(got).error());
    if (!got->found) return no_floor();
    key.database = own_.database();
    const auto& [now, floor, schema] = got->all;
    return take_facts({.now = time_point{duration{now}}, .floor = floor, .schema = schema}, key,
                      to);
}

} // namespace semel::mysql
