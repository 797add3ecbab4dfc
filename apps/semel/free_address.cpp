#include "free_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace semel::app {
namespace {

constexpr int tries_max = 100;

bool is_free(std::uint16_t port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes); // as the server does it
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const bool bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
    const bool heard = bound && ::listen(socket, 1) == 0;
    ::close(socket);
    return heard;
}

} // namespace

net::host_port free_address(std::uint16_t from) {
    for (int i = 0; i < tries_max && from + i <= 65'535; ++i) {
        const auto port = static_cast<std::uint16_t>(from + i);
        if (is_free(port)) return {.host = "127.0.0.1", .port = port};
    }
    throw std::runtime_error("no port from " + std::to_string(from) +
                             " on is free; name one with --listen");
}

} // namespace semel::app
