#include "semel/databases/postgres/transaction.hpp"

#include <libpq-fe.h>

#include <utility>

#include "databases/postgres/client/readiness.hpp"
#include "databases/postgres/transaction/caller_transaction.hpp"
#include "semel/base/result.hpp"

namespace semel {

postgres_transaction::postgres_transaction(pg_conn* connection,
                                           postgres_transaction_options options)
    : transaction(std::make_unique<postgres::caller_transaction>(connection, nullptr,
                                                                 std::move(options))) {}

postgres_transaction::postgres_transaction(pg_conn* connection, socket_waiter& waits,
                                           postgres_transaction_options options)
    : transaction(
          std::make_unique<postgres::caller_transaction>(connection, &waits, std::move(options))) {}

socket_waiter& postgres_connection::waits() const {
    SEMEL_ASSERT(waits_ != nullptr); // only callers that do not block have one
    return *waits_;
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
