#include "databases/mysql/client/connection.hpp"

#include <mysql.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

namespace semel::mysql {

namespace {

// FOUND_ROWS: an UPDATE counts the rows it found, not only those that it made different.
constexpr unsigned long flags = CLIENT_MULTI_STATEMENTS | CLIENT_FOUND_ROWS;

failure too_late(ending how) {
    return failure_of({.number = number::statement_timeout, .message = "no answer by the deadline"},
                      how);
}

const char* or_null(const std::string& text) {
    return text.empty() ? nullptr : text.c_str();
}

unsigned whole_seconds(duration length) {
    const auto count = std::chrono::ceil<std::chrono::seconds>(length).count();
    return static_cast<unsigned>(std::clamp<std::int64_t>(count, 1, 86'400));
}

} // namespace

// ---- rows ---------------------------------------------------------------------------------------

void rows::free_result::operator()(st_mysql_res* it) const {
    mysql_free_result(it);
}

bool rows::next() {
    if (it_ == nullptr) return false;
    row_ = mysql_fetch_row(it_.get());
    if (row_ == nullptr) return false;
    lengths_ = mysql_fetch_lengths(it_.get());
    return true;
}

std::size_t rows::count() const {
    return it_ == nullptr ? 0 : mysql_num_rows(it_.get());
}

std::string_view rows::bytes(int column) const {
    if (is_null(column)) return {};
    return {row_[column], lengths_[column]};
}

std::int64_t rows::integer(int column) const {
    const auto text = bytes(column);
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

// ---- connecting ---------------------------------------------------------------------------------

result<std::unique_ptr<connection>> connection::start(const target& to) {
    std::unique_ptr<connection> made{new connection{to}};
    made->it_ = mysql_init(nullptr);
    if (made->it_ == nullptr) {
        return failure{.code = errc::no_space, .possible = effect::none, .detail = "out of memory"};
    }
    made->set_options();
    made->pending_ = made->connect();
    return made;
}

void connection::set_options() {
    // Its calls return when they would block, and so the deadlines are ours.
    ::mysql_options(it_, MYSQL_OPT_NONBLOCK, nullptr);
    const unsigned patience = whole_seconds(to_.connect_timeout);
    ::mysql_options(it_, MYSQL_OPT_CONNECT_TIMEOUT, &patience);
    // A server could ask for any file of this machine.
    const unsigned no = 0;
    ::mysql_options(it_, MYSQL_OPT_LOCAL_INFILE, &no);
    ::mysql_options(it_, MYSQL_SET_CHARSET_NAME, "binary");
    mysql_optionsv(it_, MYSQL_OPT_CONNECT_ATTR_ADD, "program_name", "semel");
    // For "localhost" the library would take the default socket, whatever port was asked for.
    const unsigned tcp = MYSQL_PROTOCOL_TCP;
    if (to_.socket.empty()) ::mysql_options(it_, MYSQL_OPT_PROTOCOL, &tcp);
    if (to_.tls == mysql_tls::off) return;
    // Without ENFORCE a server that offers no TLS would simply be spoken to in the open.
    const my_bool on = 1;
    const my_bool checked = to_.tls == mysql_tls::verify ? 1 : 0;
    mysql_ssl_set(it_, or_null(to_.key_file), or_null(to_.cert_file), or_null(to_.ca_file), nullptr,
                  nullptr);
    ::mysql_options(it_, MYSQL_OPT_SSL_ENFORCE, &on);
    ::mysql_options(it_, MYSQL_OPT_SSL_VERIFY_SERVER_CERT, &checked);
}

int connection::connect() {
    const bool local = !to_.socket.empty();
    return mysql_real_connect_start(&connected_, it_, local ? nullptr : to_.host.c_str(),
                                    to_.user.c_str(), to_.password.c_str(), to_.database.c_str(),
                                    local ? 0 : to_.port, or_null(to_.socket), flags);
}

connection::~connection() {
    if (home_.left()) {
        // The child's descriptor; the parent has its own.
        if (connected_ != nullptr) ::close(static_cast<int>(mysql_get_socket(it_)));
        return;
    }
    finish_connecting();
    // Closing properly would block if the server does not read.
    if (lost_ && connected_ != nullptr) ::shutdown(mysql_get_socket(it_), SHUT_RDWR);
    mysql_close(it_);
}

// The library cleans up only after it has been called with the end of the wait.
void connection::finish_connecting() {
    while (pending_ != 0) {
        pending_ = mysql_real_connect_cont(&connected_, it_, MYSQL_WAIT_TIMEOUT);
    }
}

result<connection::progress> connection::advance(local_time deadline) {
    while (pending_ != 0) {
        const int got = wait(pending_, deadline);
        if (got == MYSQL_WAIT_TIMEOUT) return progress::pending;
        pending_ = mysql_real_connect_cont(&connected_, it_, got);
    }
    if (connected_ == nullptr) {
        return give_up(failure_of({mysql_errno(it_), mysql_error(it_)}, ending::rolled_back));
    }
    guard_socket();
    return progress::ready;
}

// A server that vanishes without a word is noticed by TCP itself, not only by our deadline.
void connection::guard_socket() {
    const int socket = static_cast<int>(mysql_get_socket(it_));
    const auto set = [&](int level, int name, unsigned value) {
        // A local socket has none of these options.
        static_cast<void>(::setsockopt(socket, level, name, &value, sizeof value));
    };
    set(SOL_SOCKET, SO_KEEPALIVE, 1);
    set(IPPROTO_TCP, TCP_KEEPIDLE, 10);
    set(IPPROTO_TCP, TCP_KEEPINTVL, 5);
    set(IPPROTO_TCP, TCP_KEEPCNT, 3);
    set(IPPROTO_TCP, TCP_USER_TIMEOUT, 1'000 * whole_seconds(to_.answer_timeout));
}

std::string_view connection::server_version() const {
    const char* const text = mysql_get_server_info(it_);
    return text == nullptr ? std::string_view{} : std::string_view{text};
}

unsigned connection::last_error() const {
    return mysql_errno(it_);
}

// ---- asking -------------------------------------------------------------------------------------

int connection::wait(int asked, local_time deadline) {
    pollfd one{.fd = static_cast<int>(mysql_get_socket(it_)), .events = 0, .revents = 0};
    if ((asked & MYSQL_WAIT_READ) != 0) one.events |= POLLIN;
    if ((asked & MYSQL_WAIT_WRITE) != 0) one.events |= POLLOUT;
    if ((asked & MYSQL_WAIT_EXCEPT) != 0) one.events |= POLLPRI;
    while (true) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - local_clock::now()).count();
        const int got = ::poll(&one, 1, static_cast<int>(std::clamp<long>(left, 0, 1'000'000)));
        // If the socket has failed, the library's next call finds the error and names it.
        if (got > 0 || (got < 0 && errno != EINTR)) return asked & ~MYSQL_WAIT_TIMEOUT;
        if (local_clock::now() >= deadline) return MYSQL_WAIT_TIMEOUT;
    }
}

template <class Start, class Continue>
void connection::await(local_time deadline, const Start& start, const Continue& go_on) {
    int asked = start();
    while (asked != 0) {
        const int got = timed_out_ ? MYSQL_WAIT_TIMEOUT : wait(asked, deadline);
        timed_out_ = timed_out_ || got == MYSQL_WAIT_TIMEOUT;
        asked = go_on(got);
    }
}

// A server that was restarted has closed the connection, and nothing has been sent yet. Bytes that
// come unasked mean that the server closes; under TLS they may also be a ticket for the next
// session.
bool connection::went_away_while_idle() const {
    char first = 0;
    const auto got =
        ::recv(static_cast<int>(mysql_get_socket(it_)), &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0) return errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR;
    return got == 0 || to_.tls == mysql_tls::off;
}

result<std::vector<rows>> connection::run(const script& what, local_time deadline) {
    if (home_.left()) return opened_before_fork("mysql: the connection");
    if (what.text.size() > text_bytes_max_) {
        return failure_of({.number = 1153, .message = "these statements are too long"},
                          ending::rolled_back);
    }
    if (lost_ || went_away_while_idle()) {
        return give_up(failure_of({number::gone, "the server has closed the connection"},
                                  ending::rolled_back));
    }
    int error = 0;
    await(
        deadline,
        [&] { return mysql_real_query_start(&error, it_, what.text.data(), what.text.size()); },
        [&](int got) { return mysql_real_query_cont(&error, it_, got); });
    if (error != 0) return failed(what, 0);
    return collect(what, deadline);
}

result<rows> connection::query(std::string_view sql, local_time deadline) {
    auto got = run({.text = std::string{sql}}, deadline);
    if (!got) return std::move(got).error();
    if (got->empty()) return rows{nullptr};
    return std::move(got->back());
}

result<std::vector<rows>> connection::collect(const script& what, local_time deadline) {
    std::vector<rows> got;
    std::size_t done = 0;
    while (true) {
        MYSQL_RES* one = nullptr;
        await(
            deadline, [&] { return mysql_store_result_start(&one, it_); },
            [&](int ready) { return mysql_store_result_cont(&one, it_, ready); });
        if (one != nullptr) {
            got.emplace_back(one);
        } else if (mysql_field_count(it_) == 0 && mysql_errno(it_) == 0) {
            // A loss among the rows makes the library forget that there were any.
            ++done;
            last_tally_ = {.found = mysql_affected_rows(it_),
                           .last_id = static_cast<std::int64_t>(mysql_insert_id(it_))};
        } else {
            return failed(what, done);
        }
        if (mysql_more_results(it_) == 0) return got;
        int error = 0;
        await(
            deadline, [&] { return mysql_next_result_start(&error, it_); },
            [&](int ready) { return mysql_next_result_cont(&error, it_, ready); });
        if (error > 0) return failed(what, done);
    }
}

failure connection::failed(const script& what, std::size_t done) {
    const unsigned code = mysql_errno(it_);
    const std::string words = mysql_error(it_);
    const bool writes = what.what != script::writes::nothing;
    if (code >= 2'000 && code < 3'000) {
        const ending how = writes ? ending::unknown : ending::rolled_back;
        return give_up(timed_out_ ? too_late(how) : failure_of({code, words}, how));
    }
    // A proxy may have put another session in the place of ours; or the server had ended it before.
    if (code == number::forgotten || code == number::idle)
        return give_up(failure_of({code, words}, ending::rolled_back));
    bool doubt = writes && !undoes(code);
    if (what.what == script::writes::at_commit && done < what.before_commit) doubt = false;
    if (what.in_transaction) roll_back();
    failure why = failure_of({code, words}, doubt ? ending::unknown : ending::rolled_back);
    // If a statement that skips locked rows was the victim of a deadlock, the server reports it
    // only here.
    if (code == number::commit_failed && !doubt) why.code = errc::conflict;
    return why;
}

// 1205 and others undo one statement only. Where this fails, the end of the connection does the
// same.
void connection::roll_back() {
    const auto done = run({.text = "ROLLBACK"}, local_clock::now() + to_.answer_timeout);
    if (!done) lost_ = true;
}

failure connection::give_up(failure why) {
    lost_ = true;
    return why;
}

} // namespace semel::mysql
