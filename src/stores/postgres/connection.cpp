#include "stores/postgres/connection.hpp"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>

#include "semel/assert.hpp"

namespace semel::postgres {

namespace {

constexpr int binary = 1;

std::string_view field(const PGresult* from, int code) {
    const char* const text = PQresultErrorField(from, code);
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

failure timed_out(ending how) {
    return failure_of({.state = "57014", .message = "no answer by the deadline"}, how);
}

// A request that comes before the query does is lost, so it is made again.
constexpr duration cancel_pause = std::chrono::milliseconds{100};

void cancel(PGconn* what) {
    PGcancel* const stop = PQgetCancel(what);
    if (stop == nullptr) return;
    std::array<char, 256> why{};
    PQcancel(stop, why.data(), static_cast<int>(why.size()));
    PQfreeCancel(stop);
}

// With verbose messages the code stands behind the severity: "FATAL:  28P01: password …". What the
// server said while connecting is available in no other way.
std::string_view state_in(std::string_view message) {
    for (std::size_t at = message.find(": "); at != std::string_view::npos;
         at = message.find(": ", at + 1)) {
        if (at < 5) continue;
        const std::string_view state = message.substr(at - 5, 5);
        const bool fits = std::all_of(state.begin(), state.end(), [](unsigned char one) {
            return std::isdigit(one) != 0 || std::isupper(one) != 0;
        });
        const bool whole = at == 5 || message[at - 6] == ' ';
        if (fits && whole && std::isdigit(static_cast<unsigned char>(state[0])) != 0) return state;
    }
    return {};
}

} // namespace

// ---- rows ---------------------------------------------------------------------------------------

void rows::clear::operator()(pg_result* it) const {
    PQclear(it);
}

int rows::count() const {
    return PQntuples(it_.get());
}

std::string_view rows::tag() const {
    return PQcmdStatus(it_.get());
}

bool rows::is_null(int row, int column) const {
    return PQgetisnull(it_.get(), row, column) != 0;
}

std::string_view rows::bytes(int row, int column) const {
    return {PQgetvalue(it_.get(), row, column),
            static_cast<std::size_t>(PQgetlength(it_.get(), row, column))};
}

// ---- connecting ---------------------------------------------------------------------------------

result<std::unique_ptr<connection>> connection::start(const target& to) {
    std::vector<const char*> names;
    std::vector<const char*> values;
    for (const auto& [name, value] : to.settings) {
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    std::unique_ptr<connection> made{new connection};
    made->it_ = PQconnectStartParams(names.data(), values.data(), 0);
    if (made->it_ == nullptr) {
        return failure{.code = errc::no_space, .possible = effect::none, .detail = "out of memory"};
    }
    PQsetErrorVerbosity(made->it_, PQERRORS_VERBOSE);
    if (PQstatus(made->it_) == CONNECTION_BAD) return made->cannot_connect();
    made->polling_ = PGRES_POLLING_WRITING;
    return made;
}

std::unique_ptr<connection> connection::borrow(pg_conn* handle) {
    std::unique_ptr<connection> made{new connection};
    made->it_ = handle;
    made->owned_ = false;
    return made;
}

connection::~connection() {
    if (owned_) PQfinish(it_);
}

result<connection::progress> connection::advance(local_time deadline) {
    while (polling_ != PGRES_POLLING_OK) {
        const auto what = polling_ == PGRES_POLLING_READING ? interest::read : interest::write;
        if (!wait(what, deadline)) return progress::pending;
        polling_ = PQconnectPoll(it_);
        if (polling_ == PGRES_POLLING_FAILED) return give_up(cannot_connect());
    }
    if (PQsetnonblocking(it_, 1) != 0) return give_up(native_failure(ending::rolled_back));
    PQsetErrorVerbosity(it_, PQERRORS_DEFAULT);
    return progress::ready;
}

bool connection::reset(local_time deadline) {
    if (PQresetStart(it_) == 0) return false;
    polling_ = PGRES_POLLING_WRITING;
    while (polling_ != PGRES_POLLING_OK) {
        const auto what = polling_ == PGRES_POLLING_READING ? interest::read : interest::write;
        if (!wait(what, deadline)) return false;
        polling_ = PQresetPoll(it_);
        if (polling_ == PGRES_POLLING_FAILED) return false;
    }
    // One of several servers, perhaps: a standby may not have heard of the last commit yet.
    const auto standby = query("SELECT pg_is_in_recovery()", deadline);
    return standby && standby->bytes(0, 0) == "f";
}

int connection::server_version() const {
    return PQserverVersion(it_);
}

failure connection::cannot_connect() const {
    const std::string_view words = PQerrorMessage(it_);
    failure why = failure_of({.state = state_in(words), .message = words}, ending::rolled_back);
    const bool tls = words.find("certificate") != std::string_view::npos ||
                     words.find("SSL") != std::string_view::npos;
    if (tls) {
        why.code = errc::invalid_argument;
        why.detail += "; check sslmode= and sslrootcert= of the store URL, and that the server's "
                      "certificate names this host";
    } else if (why.code == errc::unavailable || why.code == errc::internal) {
        why.code = errc::unavailable;
        why.detail += "; check that the server runs and that host and port are right";
    }
    return why;
}

// ---- asking -------------------------------------------------------------------------------------

bool connection::wait(interest what, local_time deadline) const {
    pollfd one{.fd = PQsocket(it_), .events = 0, .revents = 0};
    if (what != interest::write) one.events |= POLLIN;
    if (what != interest::read) one.events |= POLLOUT;
    while (true) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - local_clock::now()).count();
        const int got = ::poll(&one, 1, static_cast<int>(std::clamp<long>(left, 0, 1'000'000)));
        if (got > 0) return true;
        if (got < 0 && errno != EINTR) return true; // libpq meets the same error and names it
        if (local_clock::now() >= deadline) return false;
    }
}

// A server that was restarted has closed the connection, and nothing has been sent yet.
bool connection::went_away_while_idle() {
    pollfd one{.fd = PQsocket(it_), .events = POLLIN, .revents = 0};
    // Its last words come before the end, and notices come at any time.
    while (::poll(&one, 1, 0) > 0) {
        if (PQconsumeInput(it_) == 0 || PQstatus(it_) != CONNECTION_OK) return true;
    }
    return false;
}

result<void> connection::enter_pipeline() {
    const bool idle = PQpipelineStatus(it_) == PQ_PIPELINE_OFF;
    if (lost_ || (idle && went_away_while_idle())) {
        return give_up(native_failure(ending::rolled_back));
    }
    if (PQenterPipelineMode(it_) == 0) return give_up(native_failure(ending::rolled_back));
    return {};
}

result<void> connection::queue_text(const std::string& sql) {
    if (auto entered = enter_pipeline(); !entered) return entered;
    if (PQsendQueryParams(it_, sql.c_str(), 0, nullptr, nullptr, nullptr, nullptr, binary) == 0) {
        return give_up(native_failure(ending::rolled_back));
    }
    return {};
}

result<void> connection::queue(std::span<const call> calls) {
    if (auto entered = enter_pipeline(); !entered) return entered;
    for (const call& one : calls) {
        values_.clear();
        lengths_.clear();
        for (const auto value : one.values) {
            values_.push_back(value.data());
            lengths_.push_back(static_cast<int>(value.size()));
        }
        formats_.assign(values_.size(), binary);
        // Without the sync that follows, the server commits nothing of it.
        if (PQsendQueryPrepared(it_, one.name.c_str(), static_cast<int>(values_.size()),
                                values_.data(), lengths_.data(), formats_.data(), binary) == 0) {
            return give_up(native_failure(ending::rolled_back));
        }
    }
    return {};
}

result<std::vector<rows>> connection::pipeline(std::span<const call> calls, local_time deadline) {
    owners_failed_ = false;
    if (auto queued = queue(calls); !queued) return std::move(queued).error();
    if (PQpipelineSync(it_) == 0) return give_up(native_failure(ending::unknown));
    auto got = collect(mode::pipeline, deadline);
    owners_failed_ = !got && not_done_ > calls.size();
    return got;
}

// Nobody wants to know any more what a query gives, and a COPY would wait for its data for ever.
void connection::end_queries() {
    if (PQtransactionStatus(it_) != PQTRANS_ACTIVE) return;
    while (true) {
        while (PQisBusy(it_) != 0) {
            cancel(it_);
            const bool more = wait(interest::read, local_clock::now() + cancel_pause);
            if (more && PQconsumeInput(it_) == 0) break;
        }
        PGresult* const left = PQgetResult(it_);
        if (left == nullptr) return;
        const auto status = PQresultStatus(left);
        PQclear(left);
        if (status == PGRES_COPY_IN) PQputCopyEnd(it_, "the work has not finished its COPY");
        if (status != PGRES_COPY_OUT) continue;
        char* line = nullptr;
        while (PQgetCopyData(it_, &line, 0) > 0) PQfreemem(line);
    }
}

void connection::drain(local_time deadline) {
    if (PQpipelineStatus(it_) == PQ_PIPELINE_OFF) {
        end_queries();
    } else if (PQpipelineSync(it_) != 0) {
        static_cast<void>(collect(mode::pipeline, deadline));
    }
}

result<void> connection::prepare(std::span<const preparation> all, local_time deadline) {
    SEMEL_ASSERT(PQenterPipelineMode(it_) == 1);
    for (const preparation& one : all) {
        if (PQsendPrepare(it_, one.name.c_str(), one.text.c_str(), 0, nullptr) == 0) {
            return give_up(native_failure(ending::rolled_back));
        }
    }
    if (PQpipelineSync(it_) == 0) return give_up(native_failure(ending::rolled_back));
    auto done = collect(mode::pipeline, deadline);
    if (!done) return std::move(done).error();
    return {};
}

result<rows> connection::query(const std::string& sql, local_time deadline) {
    if (PQsendQuery(it_, sql.c_str()) == 0) return give_up(native_failure(ending::rolled_back));
    auto got = collect(mode::plain, deadline);
    if (!got) return std::move(got).error();
    return std::move(got->back());
}

result<void> connection::await_result(local_time deadline, ending unless_told) {
    while (true) {
        const int unsent = PQflush(it_);
        if (unsent < 0) return give_up(native_failure(unless_told));
        if (PQisBusy(it_) == 0) return {};
        if (!wait(unsent == 1 ? interest::read_and_write : interest::read, deadline)) {
            return give_up(timed_out(unless_told));
        }
        if (PQconsumeInput(it_) == 0) return give_up(native_failure(unless_told));
    }
}

// Everything up to the end of what was sent. What the statements gave counts only after that: the
// commit comes last.
result<std::vector<rows>> connection::collect(mode how, local_time deadline) {
    std::vector<rows> got;
    std::optional<failure> error;
    bool committed = false; // by the last statement
    not_done_ = 0;
    while (true) {
        auto ready = await_result(deadline, ending::unknown);
        if (!ready) return error ? give_up(*std::move(error)) : std::move(ready).error();
        PGresult* const one = PQgetResult(it_);
        if (one == nullptr) {
            if (PQstatus(it_) != CONNECTION_OK) {
                return give_up(error ? *std::move(error) : native_failure(ending::unknown));
            }
            if (how == mode::plain) break;
            continue;
        }
        rows owned{one};
        const auto status = PQresultStatus(one);
        if (status == PGRES_PIPELINE_SYNC) {
            // Only at our own, which is the last: the owner may have queued some, too.
            if (PQexitPipelineMode(it_) == 1) break;
            continue;
        }
        if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
            return stuck_in_copy();
        }
        committed = owned.tag() == "COMMIT";
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
            got.push_back(std::move(owned));
        } else if (!error && status == PGRES_FATAL_ERROR) {
            error = failure_of(
                {.state = field(one, PG_DIAG_SQLSTATE), .message = PQresultErrorMessage(one)},
                ending::unknown);
        } else if (!error && status == PGRES_PIPELINE_ABORTED) {
            // The owner has read what failed, and gone on.
            error = failure_of({.state = "25P02", .message = "a statement before has failed"},
                               ending::unknown);
        }
        if (error) ++not_done_;
    }
    if (!error || committed) return got;
    // The server has gone on to the end after the error: the transaction is rolled back.
    error->possible = effect::none;
    return *std::move(error);
}

// libpq gives it again and again, and has no way out of it in a pipeline. The server takes what we
// send behind it for an error, and rolls back.
failure connection::stuck_in_copy() {
    ::shutdown(PQsocket(it_), SHUT_RDWR);
    while (PQconsumeInput(it_) != 0) {
    }
    return give_up({.code = errc::transaction_broken,
                    .possible = effect::none,
                    .detail = "postgres: a COPY cannot be queued in a pipeline, and has ended the "
                              "connection; PQreset or replace it"});
}

failure connection::give_up(failure why) {
    lost_ = true;
    return why;
}

failure connection::native_failure(ending how) const {
    return failure_of({.state = {}, .message = PQerrorMessage(it_)}, how);
}

} // namespace semel::postgres
