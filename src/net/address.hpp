// Addresses as text: where to listen, where to send, which peers to trust. Pure; any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/result.hpp"

namespace semel::net {

struct host_port {
    std::string host = {}; // a name or an address, IPv6 without brackets
    std::uint16_t port = 0;

    [[nodiscard]] std::string text() const; // "[::1]:80"
    friend bool operator==(const host_port&, const host_port&) = default;
};

// "127.0.0.1:7070", "[::1]:7070", "localhost:0"; invalid_argument says what is wrong.
[[nodiscard]] result<host_port> parse_host_port(std::string_view text);

// "http://127.0.0.1:3000", "https://orders.internal/base".
struct base_url {
    enum class scheme : std::uint8_t { http, https } how = scheme::http;
    host_port at = {};
    std::string path = {}; // before every target; empty or "/base", never ending with a slash

    friend bool operator==(const base_url&, const base_url&) = default;
};
// Without user, query and fragment: invalid_argument names what does not belong there.
[[nodiscard]] result<base_url> parse_base_url(std::string_view text);

// An IPv6 address; IPv4 as ::ffff:a.b.c.d.
using address_bytes = std::array<std::uint8_t, 16>;
[[nodiscard]] std::optional<address_bytes> parse_address(std::string_view text);

// The addresses that one party has: an IPv4 address alone, an IPv6 address with all that share its
// first 64 bits. What is no address stays as it is.
[[nodiscard]] std::string block_of(std::string_view address);

// "10.0.0.0/8", "fd00::/8", "127.0.0.1".
class network {
public:
    [[nodiscard]] static result<network> parse(std::string_view text);
    [[nodiscard]] bool contains(const address_bytes& address) const;

private:
    address_bytes base_ = {};
    unsigned bits_ = 128;
};

[[nodiscard]] bool any_contains(const std::vector<network>& networks, const address_bytes& address);

} // namespace semel::net
