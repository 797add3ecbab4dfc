#include "http/support/socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>

namespace semel::edge::support {
namespace {

bool wait_for(int descriptor, short events, int timeout_ms) {
    pollfd one{.fd = descriptor, .events = events, .revents = 0};
    int got = 0;
    do {
        got = ::poll(&one, 1, timeout_ms);
    } while (got < 0 && errno == EINTR);
    return got > 0;
}

sockaddr_in loopback(std::uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int new_socket() {
    const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) throw std::runtime_error("no socket");
    return descriptor;
}

} // namespace

socket socket::connect(std::uint16_t port) {
    socket made{new_socket()};
    const sockaddr_in address = loopback(port);
    if (::connect(made.descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address)) {
        throw std::runtime_error("cannot connect");
    }
    const int yes = 1;
    ::setsockopt(made.descriptor_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return made;
}

bool socket::write(std::string_view bytes) const {
    while (!bytes.empty()) {
        if (!wait_for(descriptor_, POLLOUT, patience_ms)) return false;
        const auto sent =
            ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) continue;
        if (sent < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

std::optional<std::string> socket::read_some(int timeout_ms) const {
    if (!wait_for(descriptor_, POLLIN, timeout_ms)) return std::nullopt;
    std::array<char, 65'536> buffer;
    const auto got = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
    if (got < 0) return std::nullopt;
    return std::string{buffer.data(), static_cast<std::size_t>(got)};
}

std::string socket::read_all() const {
    std::string all;
    while (auto some = read_some()) {
        if (some->empty()) break;
        all += *some;
    }
    return all;
}

bool socket::ends() const {
    while (wait_for(descriptor_, POLLIN, patience_ms)) {
        std::array<char, 4'096> buffer;
        if (::recv(descriptor_, buffer.data(), buffer.size(), 0) <= 0) return true;
    }
    return false;
}

void socket::end_output() const {
    ::shutdown(descriptor_, SHUT_WR);
}

void socket::shutdown() const {
    const std::lock_guard lock{closing_};
    ::shutdown(descriptor_, SHUT_RDWR);
}

void socket::reset() {
    const linger now{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(descriptor_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
}

void socket::close() {
    const std::lock_guard lock{closing_};
    if (descriptor_ >= 0) ::close(descriptor_.exchange(-1));
}

listening_socket::listening_socket() : socket_(new_socket()) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    auto* const raw = reinterpret_cast<sockaddr*>(&address);
    if (::bind(socket_.descriptor(), raw, size) || ::listen(socket_.descriptor(), 1'024) ||
        ::getsockname(socket_.descriptor(), raw, &size)) {
        throw std::runtime_error("cannot listen");
    }
    port_ = ntohs(address.sin_port);
}

std::optional<socket> listening_socket::accept() const {
    const int descriptor = ::accept4(socket_.descriptor(), nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) return std::nullopt;
    const int yes = 1;
    ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return socket{descriptor};
}

} // namespace semel::edge::support
