#include "databases/postgres/client/dialogue.hpp"

#include <libpq-fe.h>

#include <array>

namespace semel::postgres {

namespace {

// A request that comes before the query does is lost, so it is made again.
constexpr duration cancel_pause = std::chrono::milliseconds{100};
constexpr duration reset_pause = std::chrono::milliseconds{50};

// Through a connection of its own, for which libpq waits in any case.
void cancel(PGconn* what) {
    PGcancel* const stop = PQgetCancel(what);
    if (stop == nullptr) return;
    std::array<char, 256> why{};
    PQcancel(stop, why.data(), static_cast<int>(why.size()));
    PQfreeCancel(stop);
}

} // namespace

bool dialogue::forget_lost() {
    if (!on_->lost()) return false;
    forget();
    on_ = connection::borrow(handle_);
    return true;
}

void dialogue::do_not_block() {
    if (waits_ != nullptr) PQsetnonblocking(handle_, 1);
}

// ---- asking -------------------------------------------------------------------------------------

task<result<std::vector<rows>>> dialogue::pipeline(std::span<const call> calls, succession* next) {
    using answers = result<std::vector<rows>>;
    if (waits_ == nullptr && next == nullptr) {
        return task<answers>{on_->pipeline(calls, no_deadline)};
    }
    do_not_block();
    // Prepare the wait first: without memory for it, nothing must be sent.
    auto answer = collect(connection::mode::pipeline, no_deadline, next);
    if (auto sent = on_->send(calls); !sent) {
        failure why = std::move(sent).error();
        // The COMMIT before the next ones may be on its way.
        if (next != nullptr) why.possible = effect::unknown;
        return task<answers>{std::move(why)};
    }
    return answer;
}

task<result<std::vector<rows>>> dialogue::collect(connection::mode how, local_time deadline,
                                                  succession* next) {
    connection::collection all{how, next == nullptr ? 0 : next->calls};
    while (true) {
        auto end = on_->take(all);
        if (end) {
            // libpq has closed its socket; the loop's copy would keep the server waiting.
            if (on_->lost()) forget();
            if (next != nullptr) {
                next->got = std::move(all.further);
                next->why = std::move(all.further_why);
            }
            co_return *std::move(end);
        }
        const auto woke = co_await ready(all.wanted, deadline);
        if (woke == woken::deadline) co_return on_->too_late(all);
    }
}

task<result<rows>> dialogue::query(std::string sql, local_time deadline) {
    auto sent = on_->send_text(sql);
    if (!sent) co_return std::move(sent).error();
    auto got = co_await collect(connection::mode::plain, deadline);
    if (!got) co_return std::move(got).error();
    co_return std::move(got->back());
}

task<result<void>> dialogue::prepare(std::span<const preparation> all) {
    auto sent = on_->send(all);
    if (!sent) co_return sent;
    auto got = co_await collect(connection::mode::pipeline);
    if (!got) co_return std::move(got).error();
    co_return result<void>{};
}

// ---- the end of what others have begun ----------------------------------------------------------

task<result<void>> dialogue::drain() {
    if (PQpipelineStatus(handle_) == PQ_PIPELINE_OFF) {
        auto ended = co_await end_queries();
        co_return ended;
    }
    if (on_->send_sync(ending::unknown)) {
        static_cast<void>(co_await collect(connection::mode::pipeline));
    }
    co_return result<void>{};
}

// The results of running queries are not needed, and a COPY would never stop waiting for its data.
task<result<void>> dialogue::end_queries() {
    while (PQtransactionStatus(handle_) == PQTRANS_ACTIVE) {
        auto woke = woken::deadline;
        while (PQisBusy(handle_) != 0) {
            // The server cannot cancel a query before it has received all of it.
            const int unsent = PQflush(handle_);
            if (unsent < 0) break;
            if (woke == woken::deadline) cancel(handle_);
            const auto wanted = unsent == 1 ? interest::read_and_write : interest::read;
            const auto next = co_await ready(wanted, local_clock::now() + cancel_pause);
            woke = next;
            if (woke == woken::ready && PQconsumeInput(handle_) == 0) break;
        }
        PGresult* const left = PQgetResult(handle_);
        if (left == nullptr) break;
        const auto status = PQresultStatus(left);
        PQclear(left);
        if (status == PGRES_COPY_IN) PQputCopyEnd(handle_, "the work has not finished its COPY");
        if (status != PGRES_COPY_OUT) continue;
        char* line = nullptr;
        woke = woken::deadline;
        while (true) {
            const int size = PQgetCopyData(handle_, &line, 1);
            if (size < 0) break;
            if (size > 0) {
                PQfreemem(line);
                continue;
            }
            if (woke == woken::deadline) cancel(handle_);
            const auto next = co_await ready(interest::read, local_clock::now() + cancel_pause);
            woke = next;
            if (woke == woken::ready && PQconsumeInput(handle_) == 0) break;
        }
    }
    co_return result<void>{};
}

// ---- a connection that was lost -----------------------------------------------------------------

task<bool> dialogue::reset(local_time deadline) {
    while (true) {
        forget();
        const bool there = co_await connect_again(deadline);
        if (there) co_return true;
        if (local_clock::now() >= deadline) co_return false;
        co_await ready(interest::time, local_clock::now() + reset_pause);
    }
}

task<bool> dialogue::connect_again(local_time deadline) {
    if (PQresetStart(handle_) == 0) co_return false;
    auto polling = PGRES_POLLING_WRITING;
    while (polling != PGRES_POLLING_OK) {
        const auto what = polling == PGRES_POLLING_READING ? interest::read : interest::write;
        const auto woke = co_await ready(what, deadline);
        if (woke == woken::deadline) co_return false;
        forget(); // the next address has another socket
        polling = PQresetPoll(handle_);
        if (polling == PGRES_POLLING_FAILED) co_return false;
    }
    // The URL may name several servers, and a standby may not have the last commit yet.
    const auto standby = co_await query("SELECT pg_is_in_recovery()", deadline);
    co_return standby && standby->bytes(0, 0) == "f";
}

} // namespace semel::postgres
