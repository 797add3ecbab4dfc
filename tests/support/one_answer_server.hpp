// Whoever connects and says something is told the same bytes, and no more.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>

namespace semel::test {

class one_answer_server {
public:
    explicit one_answer_server(std::string answer)
        : answer_(std::move(answer)), listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        auto* const address = reinterpret_cast<sockaddr*>(&at);
        if (::bind(listener_, address, size) != 0 || ::listen(listener_, 8) != 0 ||
            ::getsockname(listener_, address, &size) != 0) {
            throw std::runtime_error("no port for a server of a test");
        }
        port_ = ntohs(at.sin_port);
        thread_ = std::thread{[this] { run(); }};
    }
    one_answer_server(const one_answer_server&) = delete;
    one_answer_server& operator=(const one_answer_server&) = delete;
    ~one_answer_server() {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    void run() const {
        for (int client = 0; (client = ::accept(listener_, nullptr, nullptr)) >= 0;) {
            std::array<char, 4096> heard{};
            if (::recv(client, heard.data(), heard.size(), 0) > 0) {
                (void)::send(client, answer_.data(), answer_.size(), MSG_NOSIGNAL);
            }
            ::close(client);
        }
    }

    const std::string answer_;
    const int listener_;
    std::uint16_t port_ = 0;
    std::thread thread_;
};

} // namespace semel::test
