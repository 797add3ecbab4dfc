// Greets every client as a PostgreSQL server of some other version would, and says no more.
#pragma once

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace semel::testing_support {

class elder_server {
public:
    explicit elder_server(std::string version) : version_(std::move(version)) {
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof where;
        if (::bind(listener_, reinterpret_cast<sockaddr*>(&where), size) != 0 ||
            ::listen(listener_, 8) != 0) {
            throw std::runtime_error("no port for the server");
        }
        ::getsockname(listener_, reinterpret_cast<sockaddr*>(&where), &size);
        port_ = ntohs(where.sin_port);
        thread_ = std::thread{[this] { serve(); }};
    }
    elder_server(const elder_server&) = delete;
    elder_server& operator=(const elder_server&) = delete;
    ~elder_server() {
        stop_ = true;
        thread_.join();
        ::close(listener_);
    }

    [[nodiscard]] std::string url() const {
        return "postgres://semel@127.0.0.1:" + std::to_string(port_) +
               "/semel?sslmode=disable&gssencmode=disable";
    }

private:
    static std::string message(char kind, const std::string& body) {
        const auto size = static_cast<std::uint32_t>(body.size() + 4);
        std::string made{kind};
        for (int shift = 24; shift >= 0; shift -= 8) made += static_cast<char>(size >> shift);
        return made + body;
    }

    void serve() const {
        const std::string parameter = std::string{"server_version"} + '\0' + version_ + '\0';
        const std::string greeting = message('R', std::string(4, '\0')) + message('S', parameter) +
                                     message('K', std::string(8, '\0')) + message('Z', "I");
        while (!stop_) {
            pollfd one{.fd = listener_, .events = POLLIN, .revents = 0};
            if (::poll(&one, 1, 20) <= 0) continue;
            const int client = ::accept(listener_, nullptr, nullptr);
            char startup[1'024];
            if (::read(client, startup, sizeof startup) > 0) {
                (void)!::write(client, greeting.data(), greeting.size());
                (void)!::read(client, startup, sizeof startup);
            }
            ::close(client);
        }
    }

    const std::string version_;
    const int listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    int port_ = 0;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

} // namespace semel::testing_support
