#include "databases/postgres/client/connection.hpp"

#include <libpq-fe.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <iterator>
#include <utility>

#include "databases/postgres/client/readiness.hpp"
#include "semel/base/result.hpp"

namespace semel::postgres {

namespace {

constexpr int binary = 1;

std::string field(const PGresult* from, int code) {
    const char* const text = PQresultErrorField(from, code);
    return text == nullptr ? "" : text;
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
    if (!owned_) return;
    if (!home_.left()) {
        PQfinish(it_);
    } else if (const int socket = PQsocket(it_); socket >= 0) {
        ::close(socket); // the child's descriptor; the parent has its own
    }
}

result<void> connection::check_home() const {
    if (home_.left()) return opened_before_fork("postgres: the connection");
    return {};
}

result<connection::progress> connection::advance(local_time deadline) {
    while (polling_ != PGRES_POLLING_OK) {
        const auto what = polling_ == PGRES_POLLING_READING ? interest::read : interest::write;
        if (!wait_for(it_, what, deadline)) return progress::pending;
        polling_ = PQconnectPoll(it_);
        if (polling_ == PGRES_POLLING_FAILED) return give_up(cannot_connect());
    }
    if (PQsetnonblocking(it_, 1) != 0) return give_up(libpq_failure(ending::rolled_back));
    PQsetErrorVerbosity(it_, PQERRORS_DEFAULT);
    return progress::ready;
}

int connection::server_version() const {
    return PQserverVersion(it_);
}

failure connection::cannot_connect() const {
    const std::string_view words = PQerrorMessage(it_);
    const std::string_view state = state_in(words);
    // If 42704 is about a setting, nothing of semel was asked for yet.
    const bool about_options = state == "42704";
    failure why = failure_of(
        {.state = std::string{state}, .message = std::string{words}, .of_work = about_options},
        ending::rolled_back);
    const bool tls = words.find("certificate") != std::string_view::npos ||
                     words.find("SSL") != std::string_view::npos;
    if (about_options) {
        why.code = errc::invalid_argument;
        why.detail += "; check options= of the store URL";
    } else if (tls) {
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
    if (auto home = check_home(); !home) return home;
    const bool idle = PQpipelineStatus(it_) == PQ_PIPELINE_OFF;
    if (lost_ || (idle && went_away_while_idle())) {
        return give_up(libpq_failure(ending::rolled_back));
    }
    if (PQenterPipelineMode(it_) == 0) return give_up(libpq_failure(ending::rolled_back));
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
        // Without the sync that follows, the server commits none of these statements.
        if (PQsendQueryPrepared(it_, one.name.c_str(), static_cast<int>(values_.size()),
                                values_.data(), lengths_.data(), formats_.data(), binary) == 0) {
            return give_up(libpq_failure(ending::rolled_back));
        }
    }
    return {};
}

void connection::expect(std::size_t calls) {
    last_failure_ = {};
    sent_ = calls;
}

result<void> connection::send(std::span<const call> calls) {
    expect(calls.size());
    if (auto queued = queue(calls); !queued) return queued;
    return send_sync(ending::unknown);
}

result<void> connection::send(std::span<const preparation> all) {
    if (auto home = check_home(); !home) return home;
    expect(all.size());
    SEMEL_ASSERT(PQenterPipelineMode(it_) == 1);
    for (const preparation& one : all) {
        if (PQsendPrepare(it_, one.name.c_str(), one.text.c_str(), 0, nullptr) == 0) {
            return give_up(libpq_failure(ending::rolled_back));
        }
    }
    return send_sync(ending::rolled_back);
}

result<void> connection::send_text(const std::string& sql) {
    if (auto home = check_home(); !home) return home;
    expect(1);
    if (PQsendQuery(it_, sql.c_str()) == 0) return give_up(libpq_failure(ending::rolled_back));
    return {};
}

result<void> connection::send_sync(ending unless_sent) {
    if (auto home = check_home(); !home) return home;
    if (PQpipelineSync(it_) == 0) return give_up(libpq_failure(unless_sent));
    return {};
}

result<std::vector<rows>> connection::pipeline(std::span<const call> calls, local_time deadline) {
    if (auto sent = send(calls); !sent) return std::move(sent).error();
    return collect(mode::pipeline, deadline);
}

result<void> connection::prepare(std::span<const preparation> all, local_time deadline) {
    if (auto sent = send(all); !sent) return sent;
    auto done = collect(mode::pipeline, deadline);
    if (!done) return std::move(done).error();
    return {};
}

result<rows> connection::query(const std::string& sql, local_time deadline) {
    if (auto sent = send_text(sql); !sent) return std::move(sent).error();
    auto got = collect(mode::plain, deadline);
    if (!got) return std::move(got).error();
    return std::move(got->back());
}

result<std::vector<rows>> connection::collect(mode how, local_time deadline) {
    collection all{how};
    while (true) {
        if (auto end = take(all)) return *std::move(end);
        if (!wait_for(it_, all.wanted, deadline)) return too_late(all);
    }
}

// Everything up to the end of what was sent. What the statements gave counts only after that: the
// commit comes last.
std::optional<result<std::vector<rows>>> connection::take(collection& to) {
    if (std::exchange(to.waited, false) && PQconsumeInput(it_) == 0) return lost_with(to);
    while (true) {
        const int unsent = PQflush(it_);
        if (unsent < 0) return lost_with(to);
        if (PQisBusy(it_) != 0) {
            to.waited = true;
            to.wanted = unsent == 1 ? interest::read_and_write : interest::read;
            return std::nullopt;
        }
        PGresult* const one = PQgetResult(it_);
        if (one != nullptr) {
            if (auto end = add(to, rows{one})) return end;
        } else if (PQstatus(it_) != CONNECTION_OK) {
            return lost_with(to);
        } else if (to.how == mode::plain) {
            return finish(to);
        }
    }
}

std::optional<result<std::vector<rows>>> connection::add(collection& to, rows one) {
    const auto status = PQresultStatus(one.native());
    if (status == PGRES_PIPELINE_SYNC) {
        // Only at our own, which is the last: the owner may have queued some, too.
        if (PQexitPipelineMode(it_) == 1) return finish(to);
        return std::nullopt;
    }
    if (status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH) {
        last_failure_.of_work = to.answers.of_work(sent_);
        return stuck_in_copy(status == PGRES_COPY_IN ? effect::none : effect::unknown);
    }
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
        if (to.got.empty()) to.got.reserve(sent_);
        to.answers.add_done(one.tag());
        to.got.push_back(std::move(one));
    } else if (status == PGRES_FATAL_ERROR) {
        to.answers.add_failed({.state = field(one.native(), PG_DIAG_SQLSTATE),
                               .message = PQresultErrorMessage(one.native()),
                               .constraint = field(one.native(), PG_DIAG_CONSTRAINT_NAME)});
    } else if (status == PGRES_PIPELINE_ABORTED) {
        to.answers.add_skipped();
    }
    return std::nullopt;
}

result<std::vector<rows>> connection::finish(collection& from) {
    auto meant = from.answers.at_end(sent_);
    const auto first = from.got.begin() + static_cast<std::ptrdiff_t>(meant.kept);
    if (meant.next_why) {
        from.further_why = *std::move(meant.next_why);
        from.further = failure_of(from.further_why, ending::rolled_back);
    } else if (meant.next_began) {
        from.further =
            std::vector<rows>{std::move_iterator{first}, std::move_iterator{from.got.end()}};
    }
    from.got.erase(first, from.got.end());
    // After an error the server has gone on to the end: the transaction is rolled back.
    if (meant.why) return failed(*std::move(meant.why), ending::rolled_back);
    return std::move(from.got);
}

failure connection::failed(native_failure why, ending how) {
    last_failure_ = std::move(why);
    return failure_of(last_failure_, how);
}

failure connection::too_late(const collection& so_far) {
    auto why = so_far.answers.cut_off(sent_);
    if (!why) why = {.state = "57014", .message = "no answer by the deadline"};
    return give_up(failed(*std::move(why), ending::unknown));
}

failure connection::lost_with(const collection& so_far) {
    auto why = so_far.answers.cut_off(sent_);
    return give_up(why ? failed(*std::move(why), ending::unknown) : libpq_failure(ending::unknown));
}

// libpq gives it again and again, and has no way out of it in a pipeline. Where the server waits
// for data, it takes what we send behind it for an error, and rolls back; where it has sent them
// all, it goes on to COMMIT.
failure connection::stuck_in_copy(effect possible) {
    ::shutdown(PQsocket(it_), SHUT_RDWR);
    while (PQconsumeInput(it_) != 0) {
    }
    return give_up({.code = errc::transaction_broken,
                    .possible = possible,
                    .detail = "postgres: a COPY cannot be queued in a pipeline, and has ended the "
                              "connection; PQreset or replace it"});
}

failure connection::give_up(failure why) {
    lost_ = true;
    return why;
}

failure connection::libpq_failure(ending how) const {
    return failure_of({.state = {}, .message = PQerrorMessage(it_)}, how);
}

} // namespace semel::postgres
