#include "databases/postgres/transaction/caller_ending.hpp"

#include <libpq-fe.h>
#include <sys/socket.h>

#include <string_view>
#include <utility>

#include "databases/postgres/client/last_error.hpp"
#include "databases/postgres/transaction/transaction_failures.hpp"

namespace semel::postgres {

task<result<void>> caller_ending::commit(const record_id* next) {
    records_.end();
    if (auto fits = in_.check_work_left(); !fits) co_return fits;
    std::vector<call> calls;
    calls.reserve(3 + caller_records::way_in_calls);
    records_.add_write(calls);
    calls.push_back({in_.texts().commit.name, {}});
    succession its{.calls = caller_records::way_in_calls};
    auto asked = ask(std::move(calls), next, its);
    records_.drop_write();
    auto done = co_await asked;
    records_.expect(std::move(its));
    if (!done) {
        if (done.error().possible == effect::unknown) in_.doubt();
        co_return records_.explain(std::move(done).error());
    }
    // A transaction that had failed is rolled back by COMMIT, without an error.
    if (done->back().tag() == "COMMIT") co_return result<void>{};
    co_return broken("a statement of the work has failed, and with it the transaction");
}

task<result<std::vector<rows>>> caller_ending::ask(std::vector<call> calls, const record_id* next,
                                                   succession& its) {
    if (next == nullptr) return in_.on().pipeline(calls);
    const auto of = records_.lock_of(*next);
    records_.add_way_in(calls, *next, of);
    return in_.on().pipeline(calls, &its);
}

bool caller_ending::asks_to_repeat() const {
    if (PQtransactionStatus(in_.handle()) != PQTRANS_INERROR) return false;
    const std::string_view code = last_error(in_.handle());
    return code == "40001" || code == "40P01";
}

// The server rolls back when it sees that the connection is gone.
void caller_ending::abandon() noexcept {
    records_.forget_entered();
    if (PQtransactionStatus(in_.handle()) == PQTRANS_IDLE) return;
    ::shutdown(PQsocket(in_.handle()), SHUT_RDWR);
}

task<result<void>> caller_ending::roll_back() {
    records_.end();
    records_.drop_write();
    records_.forget_entered(); // its caller does not need it any more
    static_cast<void>(co_await in_.on().drain());
    // Twice: what was to cancel a query of the work may have come a moment too late.
    for (int turn = 0; turn < 2; ++turn) {
        const auto status = PQtransactionStatus(in_.handle());
        if (status != PQTRANS_INTRANS && status != PQTRANS_INERROR) break;
        static_cast<void>(co_await in_.on().query("ROLLBACK"));
    }
    co_return result<void>{};
}

bool caller_ending::only_rolls_back() const {
    return PQpipelineStatus(in_.handle()) == PQ_PIPELINE_OFF &&
           PQtransactionStatus(in_.handle()) == PQTRANS_INTRANS;
}

task<result<void>> caller_ending::roll_back_before(const record_id& next) {
    records_.end();
    records_.drop_write();
    succession its{.calls = caller_records::way_in_calls};
    auto asked = ask({{in_.texts().rollback.name, {}}}, &next, its);
    static_cast<void>(co_await asked);
    records_.expect(std::move(its));
    if (records_.entered()) co_return result<void>{};
    auto back = co_await roll_back();
    co_return back;
}

} // namespace semel::postgres
