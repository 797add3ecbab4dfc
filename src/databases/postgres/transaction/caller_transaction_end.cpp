// The end of a transaction, and what may travel with it: the beginning of the next.
#include <libpq-fe.h>
#include <sys/socket.h>

#include "databases/postgres/client/last_error.hpp"
#include "databases/postgres/transaction/caller_transaction.hpp"
#include "databases/postgres/transaction/transaction_failures.hpp"
#include "databases/postgres/transaction/transaction_values.hpp"

namespace semel::postgres {

task<result<void>> caller_transaction::commit() {
    return end_with_commit(nullptr);
}

task<result<void>> caller_transaction::commit_before(const record_id& next) {
    return end_with_commit(&next);
}

task<result<void>> caller_transaction::end_with_commit(const record_id* next) {
    held_.clear();
    owner_ = owner::nobody;
    if (auto fits = check_work_left(); !fits) co_return fits;
    std::vector<call> calls;
    calls.reserve(3 + way_in_calls);
    if (unsent_) add_calls(calls, *unsent_);
    calls.push_back({texts_.commit.name, {}});
    succession its{.calls = way_in_calls};
    auto asked = ask_end(std::move(calls), next, its);
    unsent_.reset();
    auto done = co_await asked;
    entered_ = std::move(its.got);
    entered_why_ = std::move(its.why);
    if (!done) {
        in_doubt_ = done.error().possible == effect::unknown;
        co_return explain(std::move(done).error());
    }
    in_doubt_ = false;
    // A transaction that had failed is rolled back by COMMIT, without an error.
    if (done->back().tag() == "COMMIT") co_return result<void>{};
    co_return broken("a statement of the work has failed, and with it the transaction");
}

// And what comes next, if anything does.
task<result<std::vector<rows>>>
caller_transaction::ask_end(std::vector<call> calls, const record_id* next, succession& its) {
    if (next == nullptr) return on_.pipeline(calls);
    const number of = big_endian(lock_number(options_.table_prefix, *next));
    add_way_in(calls, *next, of);
    return on_.pipeline(calls, &its);
}

bool caller_transaction::asks_to_repeat() const {
    // Work that has rolled back to a savepoint of its own goes on as if nothing had happened.
    if (PQtransactionStatus(handle_) != PQTRANS_INERROR) return false;
    const std::string_view code = last_error(handle_);
    return code == "40001" || code == "40P01";
}

// The server rolls back when it hears of it.
void caller_transaction::abandon() noexcept {
    entered_.reset();
    if (PQtransactionStatus(handle_) == PQTRANS_IDLE) return;
    ::shutdown(PQsocket(handle_), SHUT_RDWR);
}

task<result<void>> caller_transaction::rollback() {
    held_.clear();
    unsent_.reset();
    entered_.reset(); // its caller does not need it any more
    owner_ = owner::nobody;
    static_cast<void>(co_await on_.drain());
    // Twice: what was to cancel a query of the work may have come a moment too late.
    for (int turn = 0; turn < 2; ++turn) {
        const auto status = PQtransactionStatus(handle_);
        if (status != PQTRANS_INTRANS && status != PQTRANS_INERROR) break;
        static_cast<void>(co_await on_.query("ROLLBACK"));
    }
    co_return result<void>{};
}

bool caller_transaction::only_rolls_back() const {
    return PQpipelineStatus(handle_) == PQ_PIPELINE_OFF &&
           PQtransactionStatus(handle_) == PQTRANS_INTRANS;
}

task<result<void>> caller_transaction::rollback_before(const record_id& next) {
    held_.clear();
    unsent_.reset();
    owner_ = owner::nobody;
    succession its{.calls = way_in_calls};
    auto asked = ask_end({{texts_.rollback.name, {}}}, &next, its);
    static_cast<void>(co_await asked);
    entered_ = std::move(its.got);
    entered_why_ = std::move(its.why);
    if (entered_) co_return result<void>{};
    auto back = co_await rollback();
    co_return back;
}

} // namespace semel::postgres
