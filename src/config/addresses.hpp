// Addresses as they stand in a configuration: what is well-formed, and who belongs to a network.
// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace semel::config {

// "127.0.0.1:7070", "[::1]:7070", "localhost:0".
[[nodiscard]] bool is_endpoint(std::string_view text);

// "http://host[:port][/path]" or https, without user, blanks or fragments.
[[nodiscard]] bool is_http_url(std::string_view text);

// An IPv4 network is kept as its IPv4-mapped IPv6 one, so that a peer on a dual-stack socket
// belongs to it however its address is written.
struct network {
    std::array<std::uint8_t, 16> address = {};
    unsigned bits = 128;
};

// "10.0.0.0/8", "127.0.0.1", "fd00::/8".
[[nodiscard]] std::optional<network> parse_network(std::string_view text);
[[nodiscard]] bool holds(const network& all, std::string_view address);

} // namespace semel::config
