#include "databases/mysql/store/session.hpp"

#include <algorithm>

#include "databases/mysql/client/schema.hpp"

namespace semel::mysql {

namespace {

constexpr duration shortest_pause = std::chrono::milliseconds{50};
constexpr duration longest_pause = std::chrono::seconds{2};
// How long one batch waits for a connection that is being made.
constexpr duration patience = std::chrono::milliseconds{250};

failure refused(errc code, std::string detail) {
    return {.code = code, .possible = effect::none, .detail = "mysql: " + std::move(detail)};
}

std::int64_t milliseconds(duration length) {
    return std::chrono::ceil<std::chrono::milliseconds>(length).count();
}

std::string seconds(duration length) {
    return std::to_string(
        std::max<std::int64_t>(1, std::chrono::ceil<std::chrono::seconds>(length).count()));
}

bool only_looks(const target& to) {
    return to.mode == open_mode::read_only;
}

// A database, role or server may have other ideas about each of these.
std::string settings(const target& to) {
    return "SET SESSION sql_mode='STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',autocommit=1,"
           "time_zone='+00:00',completion_type=0,"
           "lock_wait_timeout=" +
           seconds(to.answer_timeout) +
           ";SET NAMES binary"
           ";SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED," +
           (only_looks(to) ? "READ ONLY" : "READ WRITE") +
           ";SELECT @@global.read_only,@@innodb_flush_log_at_trx_commit,@@max_allowed_packet";
}

// MySQL waits for a lock at least a second, has no limit for statements that write, and lets
// administrators alone say how many warnings are kept.
std::string limits_of(mysql_dialect spoken, const target& to) {
    if (spoken == mysql_dialect::mysql8) return ";SET SESSION innodb_lock_wait_timeout=1";
    return ";SET SESSION innodb_lock_wait_timeout=0,max_error_count=0,max_statement_time=" +
           seconds(to.answer_timeout);
}

result<void> check_server(rows& got, const target& to) {
    if (!got.next()) return refused(errc::internal, "the server did not say what it is");
    if (only_looks(to)) return {};
    if (got.bytes(0) != "0") {
        return failure_of({number::read_only, "the server is read-only"}, ending::rolled_back);
    }
    if (got.bytes(1) == "0") {
        return refused(errc::unsupported, "the server does not flush what it commits: set "
                                          "innodb_flush_log_at_trx_commit to 1");
    }
    return {};
}

result<bool> understands(connection& on, std::string_view sql, local_time deadline) {
    auto got = on.query(sql, deadline);
    if (got) return true;
    if (on.last_error() == number::syntax) return false;
    return std::move(got).error();
}

result<void> prepare(connection& on, const session_options& options) {
    const local_time deadline = local_clock::now() + options.to.answer_timeout;
    if (auto ready = set_up(on, options.to, options.texts.dialect()); !ready) return ready;
    const auto version = schema_version(on, options.table_prefix, deadline);
    if (!version) return version.error();
    if (auto fits = check_version(*version, options.table_prefix); !fits) return fits;
    auto probed = on.query(options.texts.probe(options.to.mode), deadline);
    if (!probed) return std::move(probed).error();
    if (!options.texts.has_compound()) return {};
    auto prepared = on.query(options.texts.prepare(options.to.mode), deadline);
    if (!prepared) return std::move(prepared).error();
    return {};
}

} // namespace

// SKIP LOCKED came with MariaDB 10.6 and MySQL 8.0.
result<mysql_dialect> dialect_for(abilities has, std::string_view server_version) {
    if (!has.skips_locked_rows) {
        return refused(errc::unsupported,
                       "the server (version " + std::string{server_version} +
                           ") does not know SKIP LOCKED; semel needs MariaDB 10.6 or MySQL 8.0, "
                           "or newer");
    }
    return has.compound_statements ? mysql_dialect::mariadb : mysql_dialect::mysql8;
}

result<mysql_dialect> find_dialect(connection& on, local_time deadline) {
    const auto compound = understands(on, "BEGIN NOT ATOMIC DO 0;END", deadline);
    if (!compound) return compound.error();
    const auto skips = understands(on, "SELECT 1 FROM DUAL FOR UPDATE SKIP LOCKED", deadline);
    if (!skips) return skips.error();
    return dialect_for({.compound_statements = *compound, .skips_locked_rows = *skips},
                       on.server_version());
}

result<void> set_up(connection& on, const target& to, mysql_dialect spoken) {
    std::string text = settings(to);
    text.insert(text.rfind(";SELECT"), limits_of(spoken, to));
    auto got = on.query(text, local_clock::now() + to.answer_timeout);
    if (!got) return std::move(got).error();
    if (auto fits = check_server(*got, to); !fits) return fits;
    on.limit_text(static_cast<std::size_t>(got->integer(2)) - 1'024);
    return {};
}

result<std::unique_ptr<connection>> connect(const target& to) {
    auto started = connection::start(to);
    if (!started) return std::move(started).error();
    const auto got = (*started)->advance(local_clock::now() + to.connect_timeout);
    if (!got) return got.error();
    if (*got == connection::progress::pending) {
        return refused(errc::unavailable, "no connection within " +
                                              std::to_string(milliseconds(to.connect_timeout)) +
                                              " ms; check host, port and firewalls");
    }
    return std::move(*started);
}

result<void> session::open() {
    auto made = connect(options_.to);
    if (!made) return std::move(made).error();
    if (auto ready = prepare(**made, options_); !ready) return ready;
    on_ = *std::move(made);
    return {};
}

result<connection*> session::get() {
    if (on_ != nullptr && on_->lost()) on_.reset();
    if (on_ == nullptr) {
        if (auto made = reconnect(); !made) return std::move(made).error();
    }
    return on_.get();
}

result<void> session::reconnect() {
    const local_time now = local_clock::now();
    if (coming_ == nullptr) {
        if (now < next_try_) return refused(errc::unavailable, "the connection is lost");
        auto started = connection::start(options_.to);
        if (!started) return put_off(std::move(started).error());
        coming_ = *std::move(started);
        coming_deadline_ = now + options_.to.connect_timeout;
    }
    const auto got = coming_->advance(std::min(now + patience, coming_deadline_));
    if (!got) return put_off(got.error());
    if (*got == connection::progress::pending) {
        failure why = refused(errc::unavailable, "the connection is lost, a new one is under way");
        return local_clock::now() < coming_deadline_ ? std::move(why) : put_off(std::move(why));
    }
    if (auto ready = prepare(*coming_, options_); !ready) return put_off(std::move(ready).error());
    on_ = std::move(coming_);
    pause_ = {};
    return {};
}

// What is wrong at start is merely unavailable later on: it may be put right while we run.
failure session::put_off(failure why) {
    coming_.reset();
    pause_ = std::clamp(2 * pause_, shortest_pause, longest_pause);
    next_try_ = local_clock::now() + pause_;
    why.code = errc::unavailable;
    why.possible = effect::none;
    return why;
}

} // namespace semel::mysql
