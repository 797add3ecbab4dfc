#include "net/socket.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <system_error>

namespace semel::net {

namespace {

// A peer that is gone without a word is noticed within about this long.
constexpr int keepalive_idle_s = 15;
constexpr int keepalive_interval_s = 5;
constexpr int keepalive_probes = 3;
constexpr int unacknowledged_max_ms = 20'000;

void set(int socket, int level, int option, int value) {
    // Not a TCP socket, or an older kernel: it works without.
    static_cast<void>(::setsockopt(socket, level, option, &value, sizeof value));
}

errc code_of(int error) {
    switch (error) {
    case ETIMEDOUT:
    case EAGAIN: return errc::timed_out;
    case EINVAL:
    case EAFNOSUPPORT: return errc::invalid_argument;
    default: return errc::unavailable;
    }
}

struct address_list {
    address_list(const std::string& host, std::uint16_t port) {
        addrinfo hints{};
        hints.ai_socktype = SOCK_STREAM;
        hints.ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV;
        code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &first);
    }
    address_list(const address_list&) = delete;
    address_list& operator=(const address_list&) = delete;
    ~address_list() {
        if (first != nullptr) ::freeaddrinfo(first);
    }

    addrinfo* first = nullptr;
    int code = 0;
};

result<descriptor> connect_one(const addrinfo& to, duration patience) {
    descriptor made{::socket(to.ai_family, to.ai_socktype | SOCK_CLOEXEC, to.ai_protocol)};
    if (made.get() < 0) return system_failure("socket", errno);
    prepare(made.get());
    if (::connect(made.get(), to.ai_addr, to.ai_addrlen) == 0) return made;
    if (errno != EINPROGRESS) return system_failure("connect", errno);
    if (auto ready = wait_for(made.get(), socket_event::writable, patience); !ready) {
        return std::move(ready).error();
    }
    int error = 0;
    socklen_t size = sizeof error;
    if (::getsockopt(made.get(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) error = errno;
    if (error != 0) return system_failure("connect", error);
    return made;
}

class socket_stream final : public stream {
public:
    explicit socket_stream(descriptor socket) : socket_(std::move(socket)) {
        prepare(socket_.get());
    }

    result<std::size_t> send(std::string_view bytes, duration patience) override {
        while (true) {
            const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent > 0) return static_cast<std::size_t>(sent);
            if (errno == EINTR) continue;
            if (errno != EAGAIN) return system_failure("send", errno);
            auto ready = wait_for(socket_.get(), socket_event::writable, patience);
            if (!ready) return std::move(ready).error();
        }
    }

    result<std::size_t> receive(std::span<char> into, duration patience) override {
        while (true) {
            // Mostly the answer is not there yet. Then this saves a useless call of recv().
            auto ready = wait_for(socket_.get(), socket_event::readable, patience);
            if (!ready) return std::move(ready).error();
            const ssize_t got = ::recv(socket_.get(), into.data(), into.size(), 0);
            if (got >= 0) return static_cast<std::size_t>(got);
            if (errno != EINTR && errno != EAGAIN) return system_failure("receive", errno);
        }
    }

private:
    const descriptor socket_;
};

} // namespace

failure system_failure(std::string_view doing, int error) {
    return {.code = code_of(error),
            .possible = effect::none,
            .detail = std::string{doing} + ": " + std::generic_category().message(error)};
}

descriptor::~descriptor() {
    if (it_ >= 0) ::close(it_);
}

void prepare(int socket) {
    ::fcntl(socket, F_SETFL, ::fcntl(socket, F_GETFL) | O_NONBLOCK);
    set(socket, IPPROTO_TCP, TCP_NODELAY, 1);
    set(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
    set(socket, IPPROTO_TCP, TCP_KEEPIDLE, keepalive_idle_s);
    set(socket, IPPROTO_TCP, TCP_KEEPINTVL, keepalive_interval_s);
    set(socket, IPPROTO_TCP, TCP_KEEPCNT, keepalive_probes);
    set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, unacknowledged_max_ms);
}

result<void> wait_for(int socket, socket_event what, duration patience) {
    const local_time until = local_clock::now() + patience;
    pollfd asked{.fd = socket,
                 .events = static_cast<short>(what == socket_event::readable ? POLLIN : POLLOUT),
                 .revents = 0};
    while (true) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - local_clock::now());
        const auto most = std::clamp<std::int64_t>(left.count(), 0, 3'600'000);
        const int ready = ::poll(&asked, 1, static_cast<int>(most));
        // Errors and hang-ups show when the socket is used.
        if (ready > 0) return {};
        if (ready < 0 && errno != EINTR) return system_failure("poll", errno);
        if (ready == 0) return system_failure("no answer in time", ETIMEDOUT);
    }
}

bool spoke_unasked(stream& idle) {
    char one = 0;
    const auto got = idle.receive({&one, 1}, duration{0});
    return got.has_value() || got.error().code != errc::timed_out;
}

result<descriptor> connect_to(const std::string& host, std::uint16_t port, duration patience) {
    const std::string where = host + ":" + std::to_string(port);
    const local_time until = local_clock::now() + patience;
    const address_list addresses{host, port};
    if (addresses.code != 0) {
        return failure{.code = errc::unavailable,
                       .possible = effect::none,
                       .detail =
                           where + ": " + ::gai_strerror(addresses.code) + "; check the host name"};
    }
    result<descriptor> made = system_failure("no address", EADDRNOTAVAIL);
    // One that does not answer leaves time for those behind it.
    std::int64_t left = 0;
    for (const addrinfo* one = addresses.first; one != nullptr; one = one->ai_next) ++left;
    for (const addrinfo* one = addresses.first; one != nullptr; one = one->ai_next) {
        made = connect_one(*one, std::max(until - local_clock::now(), duration{0}) / left--);
        if (made) return made;
    }
    failure why = std::move(made).error();
    why.detail += " (" + where + "); check that the server runs and listens there";
    return why;
}

std::unique_ptr<stream> open_stream(int socket) {
    return std::make_unique<socket_stream>(descriptor{socket});
}

} // namespace semel::net
