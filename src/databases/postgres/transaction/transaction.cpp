#include "semel/databases/postgres/transaction.hpp"

#include <libpq-fe.h>

#include <utility>

#include "databases/postgres/client/readiness.hpp"
#include "databases/postgres/transaction/caller_transaction.hpp"

namespace semel {

// ---- for callers who block ----------------------------------------------------------------------

postgres_transaction::postgres_transaction(pg_conn* connection,
                                           postgres_transaction_options options)
    : state_(std::make_unique<postgres::caller_transaction>(connection, nullptr,
                                                            std::move(options))) {}
postgres_transaction::postgres_transaction(postgres_transaction&&) noexcept = default;
postgres_transaction& postgres_transaction::operator=(postgres_transaction&&) noexcept = default;
postgres_transaction::~postgres_transaction() = default;

result<void> postgres_transaction::begin(on_locked locked) {
    return state_->begin(locked).get();
}

result<void> postgres_transaction::join() {
    return state_->join().get();
}

result<locked_record> postgres_transaction::lock(const record_id& id) {
    locked_record made;
    if (auto got = state_->lock(id, made).get(); !got) return std::move(got).error();
    return made;
}

result<void> postgres_transaction::save(const record_id& id, const record& after,
                                        std::uint64_t seen_fence) {
    return state_->save(id, after, seen_fence).get();
}

void postgres_transaction::leave(const record_id& id) {
    state_->leave(id);
}

result<void> postgres_transaction::commit() {
    return state_->commit().get();
}

result<void> postgres_transaction::begin_blind(const record_id& id) {
    return state_->begin_blind(id).get();
}

result<record_stamp> postgres_transaction::commit_blind(const record_id& id, const record& made) {
    return state_->commit_blind(id, made).get();
}

result<void> postgres_transaction::expect_blind() {
    return state_->expect_blind();
}

bool postgres_transaction::asks_to_repeat() const {
    return state_->asks_to_repeat();
}

void postgres_transaction::rollback() {
    static_cast<void>(state_->rollback().get());
}

void postgres_transaction::abandon() noexcept {
    state_->abandon();
}

const void* postgres_transaction::connection() const {
    return state_->connection();
}
std::string_view postgres_transaction::tables() const {
    return state_->tables();
}

// ---- for callers who do not ---------------------------------------------------------------------

std::unique_ptr<async_transaction_port>
make_async_postgres_transaction(pg_conn* connection, socket_waiter& waits,
                                postgres_transaction_options options) {
    return std::make_unique<postgres::caller_transaction>(connection, &waits, std::move(options));
}

void postgres_result_deleter::operator()(pg_result* it) const {
    PQclear(it);
}

task<std::vector<postgres_result>> all_results(pg_conn* connection, socket_waiter& waits) {
    using interest = socket_waiter::interest;
    std::vector<postgres_result> all;
    bool reads = true; // what is wrong with the connection, PQgetResult() says
    while (true) {
        const int unsent = PQflush(connection);
        if (reads && unsent >= 0 && PQisBusy(connection) != 0) {
            const auto wanted = unsent == 1 ? interest::read_and_write : interest::read;
            postgres::readiness ready{connection, &waits, wanted};
            co_await ready;
            reads = PQconsumeInput(connection) != 0;
            continue;
        }
        pg_result* const got = PQgetResult(connection);
        if (got == nullptr) co_return all;
        all.emplace_back(got);
        // libpq gives it again and again until the caller has ended it.
        const auto status = PQresultStatus(got);
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
            co_return all;
        }
    }
}

} // namespace semel
