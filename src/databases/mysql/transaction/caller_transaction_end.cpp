#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "databases/mysql/transaction/caller_transaction.hpp"
#include "databases/mysql/transaction/failures.hpp"

namespace semel::mysql {

// ---- the end of a key ---------------------------------------------------------------------------

std::vector<statement> caller_transaction::write(const held_key& key, const record& after) const {
    // 1305 if the transaction is not the one it was.
    std::vector<statement> all{{"RELEASE SAVEPOINT " + key.inner}};
    // The tables of another one would be written else.
    all.push_back(
        {transaction_texts::default_database_is(key.database), statement::expects::truth, moved()});
    all.push_back({texts_.update(key.id, after, *key.version), statement::expects::one_row,
                   key.claimed ? row_is_gone()
                               : refused(errc::conflict, "another owner has changed the record")});
    if (key.has_checkpoints) all.push_back({texts_.forget_checkpoints(key.id)});
    return all;
}

failure caller_transaction::explain(failure why) const {
    if (on_.failed_with() == number::no_savepoint) {
        return broken("the work has ended the transaction it ran in (DDL does so too), or rolled "
                      "it back to a point before it began");
    }
    return why;
}

// A transaction that goes on would commit the row of a key without a record.
void caller_transaction::leave(const record_id& id) {
    const auto key = held_.take(id);
    if (!key || key->outermost || !key->claimed || home_.left() || !on_.idle()) return;
    static_cast<void>(on_.run({{texts_.remove_claim(key->id, *key->version)}}));
}

result<void> caller_transaction::save(const record_id& id, const record& after, std::uint64_t) {
    auto key = held_.take(id);
    if (!key) return says.not_locked();
    if (!on_.idle()) return broken("the work has left the result of a query behind");
    if (after.state == record_state::succeeded && after.attempts == 1) expected_ = terms_of(after);
    // Our own COMMIT follows at once and takes it along; what a caller commits must be there now.
    if (held_.goes_with_commit(*key)) {
        unsent_ = finished_key{.key = *std::move(key), .after = after};
        return {};
    }
    auto done = on_.run(write(*key, after));
    if (done) return {};
    failure why = explain(std::move(done).error());
    undo(*key);
    return why;
}

// Even a caller who commits all the same commits no effect without its record, nor the row of a key
// without a record.
void caller_transaction::undo(const held_key& key) {
    if (on_.lost() || !on_.idle()) return;
    const bool undone = on_.run({{"ROLLBACK TO SAVEPOINT " + key.outer}}).has_value();
    if (undone || !key.claimed) return;
    static_cast<void>(on_.run_waiting({{texts_.remove_claim(key.id, *key.version)}}, duration{}));
}

// ---- the way out --------------------------------------------------------------------------------

result<void> caller_transaction::commit() {
    if (!on_.idle()) return broken("the work has left the result of a query behind");
    const auto last = std::exchange(unsent_, std::nullopt);
    auto done = end(last);
    in_doubt_ = !done && done.error().possible == effect::unknown;
    if (!done) return explain(std::move(done).error());
    own_claim_.reset();
    open_ = false;
    held_.end();
    return {};
}

result<void> caller_transaction::end(const std::optional<finished_key>& last) {
    if (last && own_.ready() && own_.database() == last->key.database && is_usual(*last)) {
        auto done = finish(*last);
        if (done || !own_.was_forgotten()) return done;
    }
    std::vector<statement> all;
    if (last) all = write(last->key, last->after);
    add_commit(all, autocommits_);
    auto done = on_.run(all, mysql::commit::sent);
    if (!done) return std::move(done).error();
    return {};
}

caller_transaction::terms caller_transaction::terms_of(const record& it) {
    return {.lease = it.lease_until - it.begun_at,
            .retention = it.expires_at - it.updated_at,
            .policy = it.policy};
}

// The row has all of the record but what `finish` writes.
bool caller_transaction::is_usual(const finished_key& last) {
    const record& it = last.after;
    const time_point now = last.key.now;
    return last.key.claimed == terms_of(it) && it.state == record_state::succeeded &&
           it.attempts == 1 && it.begun_at == now && it.created_at == now && it.updated_at == now &&
           it.retry_after == time_point{} && it.checkpoints.empty() && it.error.empty() &&
           it.attributes.empty();
}

result<void> caller_transaction::finish(const finished_key& last) {
    const record& it = last.after;
    const std::string holder = owner_bytes(it.holder.owner);
    const kept_value values[]{
        static_cast<std::int64_t>(it.holder.fence),
        holder,
        it.content ? kept_value{it.content->as_string_view()} : kept_value{},
        std::int64_t{it.expires_at.time_since_epoch().count()},
        static_cast<std::int64_t>(it.result.kind),
        static_cast<std::int64_t>(it.result.checksum),
        it.result.type,
        it.result.ref,
        it.result.body,
        last.key.id.tenant,
        last.key.id.operation,
        last.key.id.key,
        *last.key.version,
    };
    return own_.finish(values);
}

bool caller_transaction::asks_to_repeat() const {
    return on_.last_error() == number::deadlock || on_.met_deadlock();
}

// The work may have left it, and a repeat must look where this transaction did.
void caller_transaction::return_to_database(rows& now) {
    if (!database_ || !now.next()) return;
    if (now.bytes(0) != *database_) on_.use(*database_);
}

void caller_transaction::rollback() {
    const auto claimed = std::exchange(own_claim_, std::nullopt);
    unsent_.reset();
    held_.end();
    if (!on_.lost()) on_.clear();
    if (!on_.lost() && (open_ || on_.in_transaction())) {
        std::vector<statement> all{{"ROLLBACK AND NO CHAIN NO RELEASE"}};
        if (open_ && autocommits_) all.push_back({"SET autocommit=1"});
        all.push_back({transaction_texts::default_database()});
        if (auto done = on_.run(all)) {
            if (open_) return_to_database(done->back());
        } else {
            // A time-out, or KILL QUERY: who knows how far it came.
            on_.close();
        }
    }
    open_ = false;
    if (claimed && !on_.lost()) remove_left_claim(*claimed);
}

// If the work has committed it.
void caller_transaction::remove_left_claim(const held_key& key) {
    auto got = on_.run({{texts_.find_claim(key.id, *key.version)}});
    if (got && got->front().next()) {
        static_cast<void>(
            on_.run_waiting({{texts_.remove_claim(key.id, *key.version)}}, duration{}));
    }
    if (!autocommits_) static_cast<void>(on_.run({{"COMMIT AND NO CHAIN NO RELEASE"}}));
}

void caller_transaction::abandon() noexcept {
    if (open_ || on_.in_transaction()) on_.close();
    own_claim_.reset();
    unsent_.reset();
    open_ = false;
    held_.end();
}

} // namespace semel::mysql
