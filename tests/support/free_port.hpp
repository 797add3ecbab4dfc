#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <random>
#include <stdexcept>

namespace semel::test {

// On loopback, for a server that will take it in a moment. Below those that Linux gives to whoever
// connects: one of them could be taken for a connection before the server is there.
inline std::uint16_t free_port() {
    static std::mt19937 source{std::random_device{}()};
    for (int tries = 0; tries < 100; ++tries) {
        std::uniform_int_distribution<int> any{20'000, 32'767};
        const auto port = static_cast<std::uint16_t>(any(source));
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const int one = ::socket(AF_INET, SOCK_STREAM, 0);
        const bool free = ::bind(one, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0;
        ::close(one);
        if (free) return port;
    }
    throw std::runtime_error("no free port");
}

} // namespace semel::test
