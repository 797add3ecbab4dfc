// Stands between a client and a server on loopback, and cuts the connection after a number of
// bytes.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

namespace semel::testing_support {

enum class direction { to_server, to_client };

// Any number of connections at the same time; bytes are counted over all of them.
class tcp_proxy {
public:
    explicit tcp_proxy(int server_port) : server_port_(server_port) {
        listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in where = loopback(0);
        socklen_t size = sizeof where;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&where), size) != 0 ||
            ::listen(listener_, 8) != 0) {
            throw std::runtime_error("no port for the proxy");
        }
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size);
        port_ = ntohs(where.sin_port);
        thread_ = std::thread{[this] { run(); }};
    }
    tcp_proxy(const tcp_proxy&) = delete;
    tcp_proxy& operator=(const tcp_proxy&) = delete;
    ~tcp_proxy() {
        stop_ = true;
        thread_.join();
        ::close(listener_);
    }

    [[nodiscard]] int port() const { return port_; }

    // From now on: so many bytes pass in that direction, then both sides are closed. Once.
    void cut_after(direction which, std::size_t bytes) {
        (which == direction::to_server ? to_server_ : to_client_) = bytes;
    }
    void never_cut() {
        to_server_ = unlimited;
        to_client_ = unlimited;
        server_bytes_ = 0;
        client_bytes_ = 0;
    }
    // Bytes that went through since the last never_cut().
    [[nodiscard]] std::size_t passed(direction which) const {
        return which == direction::to_server ? server_bytes_ : client_bytes_;
    }

private:
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    static sockaddr_in loopback(int port) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        where.sin_port = htons(static_cast<std::uint16_t>(port));
        return where;
    }

    bool readable(int one, int milliseconds) const {
        pollfd waits{.fd = one, .events = POLLIN, .revents = 0};
        return ::poll(&waits, 1, milliseconds) > 0;
    }

    void run() {
        std::vector<std::thread> served;
        while (!stop_) {
            if (!readable(listener_, 20)) continue;
            const int client = ::accept(listener_, nullptr, nullptr);
            served.emplace_back([this, client] { serve(client); });
        }
        for (auto& one : served) one.join();
    }

    void serve(int client) {
        const int server = ::socket(AF_INET, SOCK_STREAM, 0);
        const sockaddr_in where = loopback(server_port_);
        if (::connect(server, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0) {
            serve(client, server);
        }
        ::close(server);
        ::close(client);
    }

    void serve(int client, int server) {
        while (!stop_) {
            pollfd both[]{{.fd = client, .events = POLLIN, .revents = 0},
                          {.fd = server, .events = POLLIN, .revents = 0}};
            if (::poll(both, 2, 20) <= 0) continue;
            if (both[0].revents != 0 && !pass(client, server, to_server_, server_bytes_)) return;
            if (both[1].revents != 0 && !pass(server, client, to_client_, client_bytes_)) return;
        }
    }

    bool pass(int from, int to, std::atomic<std::size_t>& left, std::atomic<std::size_t>& passed) {
        char bytes[16'384];
        const ssize_t got = ::read(from, bytes, sizeof bytes);
        if (got <= 0) return false;
        const auto size = std::min(static_cast<std::size_t>(got), left.load());
        if (size > 0 && ::write(to, bytes, size) < 0) return false;
        passed += size;
        if (left == unlimited) return true;
        left -= size;
        if (left > 0) return true;
        left = unlimited;
        return false;
    }

    const int server_port_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> stop_ = false;
    std::atomic<std::size_t> to_server_ = unlimited;
    std::atomic<std::size_t> to_client_ = unlimited;
    std::atomic<std::size_t> server_bytes_ = 0;
    std::atomic<std::size_t> client_bytes_ = 0;
    std::thread thread_;
};

} // namespace semel::testing_support
