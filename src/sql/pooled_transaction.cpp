#include "sql/pooled_transaction.hpp"

#include <coroutine>

#include "semel/base/result.hpp"

namespace semel::sql {

// For co_await: waits until there is a connection, or until waiting has failed.
class pooled_transaction::turn {
public:
    turn(pool& in, pool_caller& who) : in_(in), who_(who) {}
    bool await_ready() { return in_.take(who_); }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> at) {
        in_.wait(who_, resumption{at, turn_});
        return turn_.suspends(at.promise().root);
    }
    void await_resume() const {}

private:
    pool& in_;
    pool_caller& who_;
    handover turn_;
};

pooled_transaction::~pooled_transaction() {
    if (at_ == nullptr) at_ = caller_.given;
    if (at_ != nullptr) give_back();
}

void* pooled_transaction::for_work() {
    SEMEL_ASSERT(at_ != nullptr); // only in the work
    return at_->port().for_work();
}

const void* pooled_transaction::connection() const {
    return at_ == nullptr ? static_cast<const void*>(this) : at_->port().connection();
}

void pooled_transaction::give_back() {
    pool_->give_back(*std::exchange(at_, nullptr));
}

// ---- the way in ---------------------------------------------------------------------------------

// lock() takes the connection, because only then is the key known. With the key, another call's end
// can carry this call's way in.
transaction_port::done pooled_transaction::begin(on_locked locked) {
    locked_ = locked;
    return ready();
}

transaction_port::done pooled_transaction::join() {
    return ready(failure{.code = errc::unsupported,
                         .detail = "a pool has no transaction to join; use transact"});
}

transaction_port::done pooled_transaction::take(const record_id& id) {
    caller_.id = &id;
    turn mine{*pool_, caller_};
    co_await mine;
    at_ = std::exchange(caller_.given, nullptr);
    if (at_ == nullptr) co_return *std::exchange(caller_.why, std::nullopt);
    caller_.had_one = true;
    co_return result<void>{};
}

transaction_port::done pooled_transaction::lock(const record_id& id, locked_record& to) {
    if (at_ == nullptr) {
        auto came = co_await take(id);
        if (!came) co_return came;
    }
    auto begun = co_await at_->port().begin(locked_);
    if (!begun) co_return begun;
    auto locked = co_await at_->port().lock(id, to);
    // The server may have been restarted while the connection was idle.
    if (!locked && at_->lost() && locked.error().possible == effect::none) {
        static_cast<void>(co_await at_->port().rollback()); // of what had begun
        auto again = co_await at_->port().begin(locked_);
        if (!again) co_return again;
        auto at_last = co_await at_->port().lock(id, to);
        locked = std::move(at_last);
    }
    if (!locked) co_return locked;
    co_return check_same_tables();
}

// A record that is not there may be in other tables: another connection, or this one after a
// reconnect, may look elsewhere. Then the earlier look-up says nothing.
result<void> pooled_transaction::check_same_tables() {
    const std::string_view seen = at_->looked_in();
    if (looked_in_.empty()) looked_in_ = seen;
    if (looked_in_ == seen) return {};
    return failure{.code = errc::unavailable,
                   .detail = std::string{pool_->limits().driver} +
                             ": the connections of the pool see different tables; put the "
                             "search_path into their options"};
}

// ---- the record ---------------------------------------------------------------------------------

transaction_port::done pooled_transaction::save(const record_id& id, const record& after,
                                                std::uint64_t seen_fence) {
    return at_->port().save(id, after, seen_fence);
}

void pooled_transaction::leave(const record_id& id) {
    at_->port().leave(id);
}

bool pooled_transaction::asks_to_repeat() const {
    return at_ != nullptr && at_->port().asks_to_repeat();
}

// ---- the way out --------------------------------------------------------------------------------

transaction_port::done pooled_transaction::commit() {
    auto done = co_await at_->port().commit();
    if (done) give_back();
    co_return done;
}

transaction_port::done pooled_transaction::rollback() {
    const bool stays = std::exchange(stays_, false);
    if (at_ == nullptr) co_return result<void>{};
    static_cast<void>(co_await at_->port().rollback());
    if (!stays) give_back();
    co_return result<void>{};
}

void pooled_transaction::abandon() noexcept {
    if (at_ == nullptr) return;
    at_->port().abandon();
    give_back();
}

} // namespace semel::sql
