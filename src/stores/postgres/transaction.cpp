#include "semel/transaction/postgres.hpp"

#include <utility>

#include "stores/postgres/caller_transaction.hpp"

namespace semel {

class postgres_transaction::state final : public postgres::caller_transaction {
public:
    using caller_transaction::caller_transaction;
};

postgres_transaction::postgres_transaction(pg_conn* connection,
                                           postgres_transaction_options options)
    : state_(std::make_unique<state>(connection, std::move(options))) {}
postgres_transaction::postgres_transaction(postgres_transaction&&) noexcept = default;
postgres_transaction& postgres_transaction::operator=(postgres_transaction&&) noexcept = default;
postgres_transaction::~postgres_transaction() = default;

result<void> postgres_transaction::begin(on_locked locked) {
    return state_->begin(locked);
}

result<void> postgres_transaction::join() {
    return state_->join();
}

result<locked_record> postgres_transaction::lock(const record_id& id) {
    return state_->lock(id);
}

result<void> postgres_transaction::save(const record_id& id, const record& after,
                                        std::uint64_t seen_fence) {
    return state_->save(id, after, seen_fence);
}

void postgres_transaction::leave(const record_id& id) {
    state_->leave(id);
}

result<void> postgres_transaction::commit() {
    return state_->commit();
}

result<void> postgres_transaction::begin_blind(const record_id& id) {
    return state_->begin_blind(id);
}

result<record_stamp> postgres_transaction::commit_blind(const record_id& id, const record& made) {
    return state_->commit_blind(id, made);
}

bool postgres_transaction::asks_to_repeat() const {
    return state_->asks_to_repeat();
}

void postgres_transaction::rollback() {
    state_->rollback();
}

const void* postgres_transaction::connection() const {
    return state_->handle();
}

} // namespace semel
