// Stands between a client and a server on loopback, and cuts the connection after a number of
// bytes.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
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
        const std::scoped_lock lock{mutex_};
        budgets_[static_cast<std::size_t>(which)].left = bytes;
    }
    // From now on: the first request with that word reaches the server, and its answer nobody.
    void cut_answer_to(std::string word) {
        const std::scoped_lock lock{mutex_};
        unanswered_ = std::move(word);
    }
    // From now on: who connects is accepted, and hears nothing.
    void fall_silent() { silent_ = true; }
    void never_cut() {
        const std::scoped_lock lock{mutex_};
        for (budget& each : budgets_) each = {};
        unanswered_.clear();
    }
    // Bytes that went through since the last never_cut().
    [[nodiscard]] std::size_t passed(direction which) const {
        const std::scoped_lock lock{mutex_};
        return budgets_[static_cast<std::size_t>(which)].passed;
    }
    // The farewell of a client that is gone already would count for the next one.
    void wait_until_idle() const {
        while (open_ > 0) std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }

private:
    static constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

    struct budget {
        std::size_t left = unlimited;
        std::size_t passed = 0;
    };

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
            ++open_;
            served.emplace_back([this, client] {
                serve(client);
                --open_;
            });
        }
        for (auto& one : served) one.join();
    }

    void serve(int client) {
        if (silent_) {
            while (!stop_) std::this_thread::sleep_for(std::chrono::milliseconds{5});
            ::close(client);
            return;
        }
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
            if (both[0].revents != 0 && !pass(client, server, budgets_[0])) return;
            if (both[1].revents != 0 && !pass(server, client, budgets_[1])) return;
        }
    }

    // Counted before the bytes are on their way: whoever has an answer finds it counted.
    bool pass(int from, int to, budget& of) {
        char bytes[16'384];
        const ssize_t got = ::read(from, bytes, sizeof bytes);
        if (got <= 0) return false;
        if (&of == &budgets_[0]) look_for_word({bytes, static_cast<std::size_t>(got)});
        const auto [size, cut] = spend(of, static_cast<std::size_t>(got));
        if (size > 0 && ::write(to, bytes, size) < 0) return false;
        return !cut;
    }

    void look_for_word(std::string_view sent) {
        const std::scoped_lock lock{mutex_};
        if (unanswered_.empty() || sent.find(unanswered_) == std::string_view::npos) return;
        unanswered_.clear();
        budgets_[1].left = 0;
    }

    struct share {
        std::size_t size;
        bool cut;
    };
    share spend(budget& of, std::size_t wanted) {
        const std::scoped_lock lock{mutex_};
        const std::size_t size = std::min(wanted, of.left);
        of.passed += size;
        if (of.left == unlimited) return {.size = size, .cut = false};
        of.left -= size;
        if (of.left > 0) return {.size = size, .cut = false};
        of.left = unlimited;
        return {.size = size, .cut = true};
    }

    const int server_port_;
    int listener_ = -1;
    int port_ = 0;
    std::atomic<bool> stop_ = false;
    std::atomic<bool> silent_ = false;
    std::atomic<int> open_ = 0;
    mutable std::mutex mutex_;
    budget budgets_[2];      // by direction
    std::string unanswered_; // guarded by mutex_
    std::thread thread_;
};

} // namespace semel::testing_support
