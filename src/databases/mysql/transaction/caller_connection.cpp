#include "databases/mysql/transaction/caller_connection.hpp"

#include <mysql.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <chrono>

namespace semel::mysql {

namespace {

// By these numbers the server tells which statement of a compound one did not do what it must. Its
// own are far below, and a text would come in the connection's character set.
constexpr unsigned unmet_first = 40'000;

// MySQL has dropped the older name, and MariaDB before 11.1 does not know the newer one.
constexpr std::string_view older_isolation = "tx_isolation";
constexpr std::string_view newer_isolation = "transaction_isolation";

std::string in_compound(const statement& one, std::size_t at) {
    if (one.what == statement::expects::anything) return one.text + ";";
    const std::string signal =
        " THEN SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO=" + std::to_string(unmet_first + at) +
        ";END IF;";
    if (one.what == statement::expects::truth) return "IF (" + one.text + ") IS NOT TRUE" + signal;
    return one.text + ";IF ROW_COUNT()<>1" + signal;
}

std::string compound(const std::vector<statement>& all) {
    std::string made = "BEGIN NOT ATOMIC ";
    for (std::size_t i = 0; i < all.size(); ++i) made += in_compound(all[i], i);
    return made + "END";
}

std::int64_t whole_seconds(duration length) {
    return std::chrono::ceil<std::chrono::seconds>(length).count();
}

// InnoDB counts whole seconds. Where that is not enough, the whole statement is timed.
std::string timed(duration patience, const std::string& text) {
    std::string made =
        "SET STATEMENT innodb_lock_wait_timeout=" + std::to_string(whole_seconds(patience));
    const auto rest = patience % std::chrono::seconds{1};
    if (rest > duration{}) {
        std::string digits = std::to_string(1'000'000 + rest.count());
        digits[0] = '.';
        made +=
            ",max_statement_time=" + std::to_string(patience / std::chrono::seconds{1}) + digits;
    }
    return made + " FOR " + text;
}

} // namespace

std::string new_savepoint() {
    static std::atomic<std::uint64_t> serial = 0;
    return "semel_" + std::to_string(++serial);
}

void add_transaction_check(std::vector<statement>& to) {
    const std::string name = new_savepoint();
    to.push_back({"SAVEPOINT " + name});
    to.push_back({"RELEASE SAVEPOINT " + name});
}

bool caller_connection::idle() const {
    return it_->status == MYSQL_STATUS_READY && mysql_more_results(it_) == 0;
}

bool caller_connection::in_transaction() const {
    return (it_->server_status & SERVER_STATUS_IN_TRANS) != 0;
}

bool caller_connection::autocommits() const {
    return (it_->server_status & SERVER_STATUS_AUTOCOMMIT) != 0;
}

// The server's number of a connection does not show it: a restarted server counts from 1 again.
bool caller_connection::lost() const {
    if (!lost_) return false;
    if (it_->net.pvio == nullptr) return true;
    pollfd ended{.fd = static_cast<int>(mysql_get_socket(it_)), .events = 0, .revents = 0};
    return ::poll(&ended, 1, 0) > 0 && (ended.revents & POLLHUP) != 0;
}

unsigned caller_connection::last_error() const {
    return mysql_errno(it_);
}

// The greeting may be a proxy's. Where it is wrong it costs a round trip: MariaDB understands
// statements one by one, and of a compound one MySQL executes nothing.
mysql_dialect caller_connection::dialect() const {
    if (dialect_ != mysql_dialect::automatic) return dialect_;
    const char* const greeting = mysql_get_server_info(it_);
    const bool mariadb =
        greeting != nullptr && std::string_view{greeting}.find("MariaDB") != std::string_view::npos;
    return mariadb ? mysql_dialect::mariadb : mysql_dialect::mysql8;
}

std::string_view caller_connection::isolation_variable() {
    if (isolation_.empty()) {
        isolation_ = dialect() == mysql_dialect::mariadb ? older_isolation : newer_isolation;
    }
    return isolation_;
}

bool caller_connection::renames_isolation_variable() {
    if (renamed_ || mysql_errno(it_) != number::unknown_variable) return false;
    renamed_ = true;
    isolation_ = isolation_ == older_isolation ? newer_isolation : older_isolation;
    return true;
}

// Only a session that tracks its schema is told of a USE, by any way it takes.
std::optional<std::string_view> caller_connection::told_database() const {
    const bool told = (it_->server_capabilities & CLIENT_SESSION_TRACKING) != 0;
    if (!told || it_->db == nullptr) return std::nullopt;
    return it_->db;
}

result<std::vector<rows>> caller_connection::run(const std::vector<statement>& all, commit with) {
    failed_with_ = 0;
    if (auto got = run_compound(compound(all), all, with)) return *std::move(got);
    return run_each(all, with);
}

result<std::vector<rows>> caller_connection::run_waiting(const std::vector<statement>& all,
                                                         duration patience) {
    failed_with_ = 0;
    auto together = run_compound(timed(patience, compound(all)), all, commit::none);
    if (together) return *std::move(together);
    const auto seconds = std::max<std::int64_t>(1, whole_seconds(patience));
    std::vector<rows> none;
    auto set = send("SET @semel_lock_wait=@@SESSION.innodb_lock_wait_timeout,SESSION "
                    "innodb_lock_wait_timeout=" +
                        std::to_string(seconds),
                    commit::none, none);
    if (!set) return std::move(set).error();
    auto got = run_each(all, commit::none);
    if (lost_) return got;
    const unsigned why = failed_with_;
    auto back = send("SET SESSION innodb_lock_wait_timeout=@semel_lock_wait", commit::none, none);
    if (!back && got) return std::move(back).error();
    failed_with_ = why;
    return got;
}

// Nothing if the server knows no compound statements: then it has executed nothing.
std::optional<result<std::vector<rows>>>
caller_connection::run_compound(const std::string& text, const std::vector<statement>& all,
                                commit with) {
    if (dialect() != mysql_dialect::mariadb) return std::nullopt;
    std::vector<rows> got;
    auto done = send(text, with, got);
    if (done) return got;
    if (const auto* const which = unmet(mysql_errno(it_), all)) return which->otherwise;
    if (mysql_errno(it_) != number::syntax) return std::move(done).error();
    failed_with_ = 0;
    dialect_ = mysql_dialect::mysql8;
    return std::nullopt;
}

kept_statement caller_connection::keep(std::vector<statement> all) {
    const std::string text = compound(all);
    return {it_, std::move(all), text};
}

kept_statement caller_connection::keep_waiting(std::vector<statement> all, duration patience) {
    const std::string text = timed(patience, compound(all));
    return {it_, std::move(all), text};
}

result<kept_statement::numbers>
caller_connection::run(kept_statement& one, std::span<const kept_value> values, commit with) {
    failed_with_ = 0;
    kept_statement::numbers got;
    if (one.execute(values, got)) return got;
    // What the connection says of a loss is not what its statement says.
    const auto [code, words] = one.error();
    failure why = failed({code, words}, with);
    const statement* const which = unmet(code, one.all());
    return which != nullptr ? which->otherwise : why;
}

const statement* caller_connection::unmet(unsigned code, const std::vector<statement>& all) {
    const bool ours = code >= unmet_first && code - unmet_first < all.size();
    return ours ? &all[code - unmet_first] : nullptr;
}

result<std::vector<rows>> caller_connection::run_each(const std::vector<statement>& all,
                                                      commit with) {
    std::vector<rows> got;
    for (const auto& one : all) {
        auto done = run_one(one, with, got);
        if (!done) return std::move(done).error();
    }
    return got;
}

result<void> caller_connection::run_one(const statement& it, commit with, std::vector<rows>& to) {
    if (it.what == statement::expects::truth) {
        std::vector<rows> answer;
        auto done = send("SELECT (" + it.text + ") IS TRUE", with, answer);
        if (!done) return std::move(done).error();
        const bool holds = answer.front().next() && answer.front().integer(0) == 1;
        return holds ? result<void>{} : it.otherwise;
    }
    auto done = send(it.text, with, to);
    if (!done) return std::move(done).error();
    if (it.what == statement::expects::one_row && *done != 1) return it.otherwise;
    return {};
}

result<std::uint64_t> caller_connection::send(const std::string& text, commit with,
                                              std::vector<rows>& to) {
    if (mysql_real_query(it_, text.data(), text.size()) != 0) return failed(with);
    std::uint64_t affected = 0;
    while (true) {
        MYSQL_RES* const one = mysql_store_result(it_);
        // A loss among the rows makes the library forget that there were any.
        if (one == nullptr && (mysql_field_count(it_) != 0 || mysql_errno(it_) != 0)) {
            return failed(with);
        }
        // It has an owner before the vector grows, which may fail.
        if (one != nullptr) to.push_back(rows{one});
        // Asking for the next result forgets it, also where there is none.
        affected = mysql_affected_rows(it_);
        const int next = mysql_next_result(it_);
        if (next < 0) return affected;
        if (next > 0) return failed(with);
    }
}

failure caller_connection::failed(commit with) {
    return failed({mysql_errno(it_), mysql_error(it_)}, with);
}

failure caller_connection::failed(const native_error& why, commit with) {
    const unsigned code = why.number;
    const bool gone = code >= 2'000 && code < 3'000;
    if (gone || code == number::idle) close();
    if (code == number::deadlock) met_deadlock_ = true;
    failed_with_ = code;
    const bool doubt = with == commit::sent && (gone || !undoes(code));
    return failure_of(why, doubt ? ending::unknown : ending::rolled_back);
}

bool caller_connection::reconnect(local_time deadline) {
    const my_bool reconnects = it_->options.reconnect;
    const unsigned connect_timeout = it_->options.connect_timeout;
    const my_bool on = 1;
    const auto left = std::chrono::ceil<std::chrono::seconds>(deadline - local_clock::now());
    const auto patience = static_cast<unsigned>(std::clamp<std::int64_t>(left.count(), 1, 3'600));
    ::mysql_options(it_, MYSQL_OPT_RECONNECT, &on);
    ::mysql_options(it_, MYSQL_OPT_CONNECT_TIMEOUT, &patience);
    const bool back = mariadb_reconnect(it_) == 0;
    ::mysql_options(it_, MYSQL_OPT_RECONNECT, &reconnects);
    ::mysql_options(it_, MYSQL_OPT_CONNECT_TIMEOUT, &connect_timeout);
    if (back) lost_ = false;
    return back;
}

void caller_connection::clear() {
    while (it_->status == MYSQL_STATUS_GET_RESULT || mysql_more_results(it_) != 0) {
        if (it_->status == MYSQL_STATUS_USE_RESULT) break;
        mysql_free_result(mysql_store_result(it_));
        if (mysql_next_result(it_) != 0) break;
    }
    // Otherwise it is the rest of a result that other code is reading.
    if (!idle()) close();
}

void caller_connection::use(const std::string& database) {
    if (mysql_select_db(it_, database.c_str()) != 0) close();
}

void caller_connection::close() noexcept {
    if (it_->net.pvio != nullptr) {
        ::shutdown(static_cast<int>(mysql_get_socket(it_)), SHUT_RDWR);
    }
    lost_ = true;
}

} // namespace semel::mysql
