#include "databases/mysql/transaction/caller_transaction.hpp"

#include <algorithm>
#include <thread>

#include "databases/mysql/client/schema.hpp"
#include "databases/mysql/store/row.hpp"

namespace semel::mysql {

namespace {

constexpr duration reconnect_pause = std::chrono::milliseconds{50};

failure refused(errc code, std::string detail) {
    return {.code = code, .possible = effect::none, .detail = "mysql: " + std::move(detail)};
}

failure broken(std::string detail) {
    return refused(errc::transaction_broken, std::move(detail));
}

} // namespace

// ---- the way in ---------------------------------------------------------------------------------

result<void> caller_transaction::check_usable() {
    if (!valid_prefix(options_.table_prefix)) {
        return refused(errc::invalid_argument,
                       "'" + options_.table_prefix + "' is not a table prefix");
    }
    if (!on_.idle()) {
        return refused(errc::invalid_argument,
                       "the result of a query is not fetched yet on this connection");
    }
    return {};
}

result<void> caller_transaction::begin(on_locked locked) {
    if (home_.left()) return opened_before_fork("mysql: the connection");
    if (on_.lost()) {
        if (auto back = reconnect(); !back) return back;
    }
    if (auto usable = check_usable(); !usable) return usable;
    // Also where the work of a transact() has ended its transaction: its lock is still held.
    if (on_.in_transaction() || !locks_.empty()) {
        return refused(errc::invalid_argument, "the connection is in a transaction already; end "
                                               "it, or use execute_in");
    }
    autocommits_ = on_.autocommits();
    on_.forget_deadlock();
    owner_ = owner::us;
    begun_ = false;
    locked_ = locked;
    database_.reset();
    held_.clear();
    unsent_.clear();
    return {};
}

result<void> caller_transaction::join() {
    if (home_.left()) return opened_before_fork("mysql: the connection");
    if (auto usable = check_usable(); !usable) return usable;
    // Without autocommit every statement is in a transaction.
    if (!on_.in_transaction() && on_.autocommits()) {
        return refused(errc::invalid_argument,
                       "the connection is in no transaction; begin one, or use transact");
    }
    // Within the work of a transact() of our own it stays ours.
    if (owner_ != owner::us) owner_ = owner::caller;
    begun_ = true;
    return {};
}

// Only to learn what became of a COMMIT: the server may be on its way up again.
result<void> caller_transaction::reconnect() {
    if (!in_doubt_) {
        return refused(errc::unavailable, "the connection is lost; make it anew");
    }
    const local_time deadline = local_clock::now() + options_.doubt_wait;
    while (!on_.reconnect(deadline)) {
        if (local_clock::now() >= deadline) {
            return refused(errc::unavailable, "the connection was lost during COMMIT and could not "
                                              "be made anew");
        }
        std::this_thread::sleep_for(reconnect_pause);
    }
    in_doubt_ = false;
    if (database_) on_.use(*database_);
    if (autocommits_) return {};
    auto as_before = on_.run({{"SET autocommit=0"}});
    if (!as_before) return std::move(as_before).error();
    return {};
}

// ---- the record ---------------------------------------------------------------------------------

result<locked_record> caller_transaction::lock(const record_id& id) {
    if (owner_ == owner::nobody) return broken("the transaction is over");
    if (auto fits = check_size(id); !fits) return std::move(fits).error();
    held_key key{
        .id = id, .inner = new_savepoint(), .outer = new_savepoint(), .outermost = !begun_};
    if (key.outermost) locks_.push_back(id);
    begun_ = true;
    auto got = on_.run(way_in(key));
    if (!got && on_.renames_isolation_variable()) got = on_.run(way_in(key));
    if (!got && got.error().code == errc::transaction_broken) {
        return refused(errc::invalid_argument, no_transaction_any_more);
    }
    if (!got) return std::move(got).error();
    return read_locked(*got, std::move(key));
}

std::vector<statement> caller_transaction::way_in(const held_key& key) {
    // First, where nothing has been waited for since the statement began.
    std::vector<statement> all{
        {transaction_texts::clock_goes(), statement::expects::truth,
         refused(errc::unsupported, "the time of this session was set, and would be the record's: "
                                    "SET timestamp = DEFAULT first")}};
    if (key.outermost) {
        const duration wait = locked_ == on_locked::wait ? options_.lock_wait : duration{};
        all.push_back({texts_.take_lock(key.id, wait, on_.dialect())});
        // A deadlock ends the transaction, and work that goes on all the same would commit.
        if (autocommits_) all.push_back({"SET autocommit=0"});
        all.push_back({"SET TRANSACTION ISOLATION LEVEL READ COMMITTED"});
        all.push_back({"START TRANSACTION READ WRITE"});
    } else {
        // Only the server knows a level that was set for this transaction alone.
        all.push_back({transaction_texts::sees_committed_only(on_.isolation_variable()),
                       statement::expects::truth,
                       refused(errc::unsupported,
                               "in READ UNCOMMITTED a look-up sees what may be rolled back; use "
                               "another isolation level")});
        add_transaction_check(all);
        all.push_back({"SAVEPOINT " + key.outer});
    }
    all.push_back({"SAVEPOINT " + key.inner});
    all.push_back({texts_.look(key.id)});
    return all;
}

result<locked_record> caller_transaction::read_locked(std::vector<rows>& got, held_key key) {
    if (key.outermost && (!got.front().next() || got.front().integer(0) != 1)) {
        return refused(locked_ == on_locked::answer ? errc::conflict : errc::timed_out,
                       "another transaction executes this key");
    }
    rows& seen = got.back();
    if (!seen.next()) return no_floor();
    if (auto fits = check_version(seen.integer(looked::schema), options_.table_prefix); !fits) {
        return std::move(fits).error();
    }
    key.database = seen.bytes(looked::database);
    if (key.outermost) database_ = key.database;
    locked_record made{
        .stored = {},
        .at = {.now = seen.time(looked::now),
               .fence_floor = static_cast<std::uint64_t>(seen.integer(looked::floor))}};
    if (!seen.is_null(looked::record)) {
        auto read = read_record_row(seen, looked::record);
        if (!read) return std::move(read).error();
        key.version = seen.integer(looked::version);
        key.has_checkpoints = read->checkpoints > 0;
        if (key.has_checkpoints) {
            if (auto more = read_checkpoints(read->it, key.id); !more) {
                return std::move(more).error();
            }
        }
        made.stored = std::move(read->it);
    }
    held_.push_back(std::move(key));
    return made;
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

std::vector<statement> caller_transaction::write(const held_key& key, const record& after) const {
    // 1305 if the transaction is not the one it was.
    std::vector<statement> all{{"RELEASE SAVEPOINT " + key.inner}};
    // The tables of another one would be written else.
    all.push_back({transaction_texts::default_database_is(key.database), statement::expects::truth,
                   broken("the work has left the connection with another default database; "
                          "choose the one it began with again")});
    if (key.version) {
        all.push_back(
            {texts_.update(key.id, after, *key.version), statement::expects::one_row,
             refused(errc::conflict, "the record was changed meanwhile by somebody else")});
    } else {
        all.push_back({texts_.insert(key.id, after)});
    }
    if (key.has_checkpoints) all.push_back({texts_.forget_checkpoints(key.id)});
    return all;
}

failure caller_transaction::explain(failure why) const {
    if (on_.last_error() == number::no_savepoint) {
        return broken("the work has ended the transaction it ran in (DDL does so too), or rolled "
                      "it back to a point before it began");
    }
    if (on_.last_error() == number::duplicate_key) {
        return refused(errc::conflict, "somebody else has executed this key meanwhile; roll back "
                                       "and begin again");
    }
    return why;
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
    static_cast<void>(take_held(id));
}

result<void> caller_transaction::save(const record_id& id, const record& after, std::uint64_t) {
    const auto key = take_held(id);
    if (!key) return broken("the record was not locked in this transaction");
    if (!on_.idle()) return broken("the work has left the result of a query behind");
    auto all = write(*key, after);
    // Our own COMMIT follows at once and takes it along; what a caller commits must be there now.
    if (owner_ == owner::us && key->outermost) {
        unsent_ = std::move(all);
        return {};
    }
    auto done = on_.run(all);
    if (done) return {};
    failure why = explain(std::move(done).error());
    // Even a caller who commits all the same commits no effect without its record.
    static_cast<void>(on_.run({{"ROLLBACK TO SAVEPOINT " + key->outer}}));
    return why;
}

// ---- the way out --------------------------------------------------------------------------------

// Behind COMMIT or ROLLBACK.
void caller_transaction::add_end(std::vector<statement>& to) const {
    if (autocommits_ && !locks_.empty()) to.push_back({"SET autocommit=1"});
    for (const auto& one : locks_) to.push_back({texts_.release_lock(one, database_)});
}

// The work may have left it, and a repeat must look where this transaction did.
void caller_transaction::return_to_database(rows& now) {
    if (locks_.empty() || !database_ || !now.next()) return;
    if (now.bytes(0) != *database_) on_.use(*database_);
}

result<void> caller_transaction::commit() {
    auto all = std::exchange(unsent_, {});
    if (!on_.idle()) return broken("the work has left the result of a query behind");
    all.push_back({"COMMIT AND NO CHAIN NO RELEASE"});
    add_end(all);
    auto done = on_.run(all, mysql::commit::sent);
    if (!done) {
        in_doubt_ = done.error().possible == effect::unknown;
        return explain(std::move(done).error());
    }
    in_doubt_ = false;
    held_.clear();
    locks_.clear();
    owner_ = owner::nobody;
    return {};
}

bool caller_transaction::asks_to_repeat() const {
    return on_.last_error() == number::deadlock || on_.met_deadlock();
}

void caller_transaction::rollback() {
    held_.clear();
    unsent_.clear();
    owner_ = owner::nobody;
    if (!on_.lost()) on_.clear();
    if (!on_.lost() && (!locks_.empty() || on_.in_transaction())) {
        std::vector<statement> all{{"ROLLBACK AND NO CHAIN NO RELEASE"}};
        add_end(all);
        all.push_back({transaction_texts::default_database()});
        if (auto done = on_.run(all)) {
            return_to_database(done->back());
        } else {
            // A time-out, or KILL QUERY: who knows how far it came.
            on_.close();
        }
    }
    locks_.clear();
}

void caller_transaction::abandon() noexcept {
    if (!locks_.empty() || on_.in_transaction()) on_.close();
    held_.clear();
    unsent_.clear();
    locks_.clear();
    owner_ = owner::nobody;
}

} // namespace semel::mysql
