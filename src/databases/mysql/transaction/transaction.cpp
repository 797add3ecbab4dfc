#include "semel/databases/mysql/transaction.hpp"

#include <utility>

#include "databases/mysql/transaction/caller_transaction.hpp"

namespace semel {

class mysql_transaction::state final : public mysql::caller_transaction {
public:
    using caller_transaction::caller_transaction;
};

mysql_transaction::mysql_transaction(st_mysql* connection, mysql_transaction_options options)
    : state_(std::make_unique<state>(connection, std::move(options))) {}
mysql_transaction::mysql_transaction(mysql_transaction&&) noexcept = default;
mysql_transaction& mysql_transaction::operator=(mysql_transaction&&) noexcept = default;
mysql_transaction::~mysql_transaction() = default;

result<void> mysql_transaction::begin(on_locked locked) {
    return state_->begin(locked);
}

result<void> mysql_transaction::join() {
    return state_->join();
}

result<locked_record> mysql_transaction::lock(const record_id& id) {
    return state_->lock(id);
}

result<void> mysql_transaction::save(const record_id& id, const record& after,
                                     std::uint64_t seen_fence) {
    return state_->save(id, after, seen_fence);
}

void mysql_transaction::leave(const record_id& id) {
    state_->leave(id);
}

result<void> mysql_transaction::commit() {
    return state_->commit();
}

bool mysql_transaction::asks_to_repeat() const {
    return state_->asks_to_repeat();
}

void mysql_transaction::rollback() {
    state_->rollback();
}

void mysql_transaction::abandon() noexcept {
    state_->abandon();
}

const void* mysql_transaction::connection() const {
    return state_->handle();
}
std::string_view mysql_transaction::tables() const {
    return state_->tables();
}

} // namespace semel
