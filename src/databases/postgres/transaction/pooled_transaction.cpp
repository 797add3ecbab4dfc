#include "databases/postgres/transaction/pooled_transaction.hpp"

#include <coroutine>

#include "databases/postgres/transaction/transaction_failures.hpp"
#include "semel/base/result.hpp"

namespace semel::postgres {

// For co_await: waits until there is a connection, or until waiting has failed.
class pooled_transaction::turn {
public:
    turn(pool_core& in, pool_caller& who) : in_(in), who_(who) {}
    bool await_ready() { return in_.take(who_); }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> at) {
        in_.wait(who_, resumption{at, turn_});
        return turn_.suspends(at.promise().root);
    }
    void await_resume() const {}

private:
    pool_core& in_;
    pool_caller& who_;
    handover turn_;
};

pooled_transaction::~pooled_transaction() {
    if (at_ == nullptr) at_ = caller_.given;
    if (at_ != nullptr) give_back();
}

void* pooled_transaction::for_work() {
    SEMEL_ASSERT(at_ != nullptr); // only in the work
    return at_->transaction.for_work();
}

const void* pooled_transaction::connection() const {
    return at_ == nullptr ? static_cast<const void*>(this) : at_->handle;
}

// ---- the way in ---------------------------------------------------------------------------------

// lock() takes the connection, because only then is the key known. With the key, another call's end
// can carry this call's way in.
task<result<void>> pooled_transaction::begin(on_locked locked) {
    locked_ = locked;
    return task<result<void>>{result<void>{}};
}

task<result<void>> pooled_transaction::join() {
    using done = task<result<void>>;
    return done{refused(errc::unsupported, "a pool has no transaction to join; use transact")};
}

task<result<void>> pooled_transaction::take(const record_id& id) {
    caller_.id = &id;
    turn mine{*pool_, caller_};
    co_await mine;
    at_ = std::exchange(caller_.given, nullptr);
    if (at_ == nullptr) co_return *std::exchange(caller_.why, std::nullopt);
    caller_.had_one = true;
    co_return result<void>{};
}

task<result<void>> pooled_transaction::lock(const record_id& id, locked_record& to) {
    if (at_ == nullptr) {
        auto came = co_await take(id);
        if (!came) co_return came;
    }
    auto begun = co_await at_->transaction.begin(locked_);
    if (!begun) co_return begun;
    auto locked = co_await at_->transaction.lock(id, to);
    // The server may have been restarted while the connection was idle.
    if (!locked && at_->transaction.lost() && locked.error().possible == effect::none) {
        auto again = co_await at_->transaction.begin(locked_);
        if (!again) co_return again;
        auto at_last = co_await at_->transaction.lock(id, to);
        locked = std::move(at_last);
    }
    if (!locked) co_return locked;
    co_return check_same_tables();
}

// A record that is not there may be in other tables: another connection, or this one after a
// reconnect, may have another search path. Then the earlier look-up says nothing.
result<void> pooled_transaction::check_same_tables() {
    const std::string_view seen = at_->transaction.looked_in();
    if (looked_in_.empty()) looked_in_ = seen;
    if (looked_in_ == seen) return {};
    return refused(errc::unavailable, "the connections of the pool see different tables; put the "
                                      "search_path into their options");
}

// ---- the record ---------------------------------------------------------------------------------

task<result<void>> pooled_transaction::save(const record_id& id, const record& after,
                                            std::uint64_t seen_fence) {
    return at_->transaction.save(id, after, seen_fence);
}

void pooled_transaction::leave(const record_id& id) {
    at_->transaction.leave(id);
}

bool pooled_transaction::asks_to_repeat() const {
    return at_ != nullptr && at_->transaction.asks_to_repeat();
}

// ---- the way out --------------------------------------------------------------------------------

task<result<void>> pooled_transaction::commit() {
    pool_successor next{*pool_};
    if (!next) {
        auto done = co_await at_->transaction.commit();
        if (done) give_back();
        co_return done;
    }
    auto done = co_await at_->transaction.commit_before(next.id());
    if (at_->transaction.entered()) static_cast<void>(co_await make_way_for(next));
    co_return done;
}

task<result<void>> pooled_transaction::rollback() {
    const bool stays = std::exchange(stays_, false);
    if (at_ == nullptr) co_return result<void>{};
    if (!stays && at_->transaction.only_rolls_back()) {
        pool_successor next{*pool_};
        if (next) static_cast<void>(co_await at_->transaction.rollback_before(next.id()));
        if (at_->transaction.entered()) static_cast<void>(co_await make_way_for(next));
    }
    if (at_ == nullptr) co_return result<void>{};
    static_cast<void>(co_await at_->transaction.rollback());
    if (!stays) give_back();
    co_return result<void>{};
}

// The connection is in the next one's transaction.
task<result<void>> pooled_transaction::make_way_for(pool_successor& next) {
    pool_member& what = *std::exchange(at_, nullptr);
    if (next.take(what)) co_return result<void>{};
    at_ = &what;
    static_cast<void>(co_await what.transaction.rollback());
    give_back();
    co_return result<void>{};
}

void pooled_transaction::abandon() noexcept {
    if (at_ == nullptr) return;
    at_->transaction.abandon();
    give_back();
}

void pooled_transaction::give_back() {
    pool_->give_back(*std::exchange(at_, nullptr));
}

} // namespace semel::postgres
