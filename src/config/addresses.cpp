#include "config/addresses.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>

#include "config/units.hpp"

namespace semel::config {
namespace {

constexpr unsigned mapped_bits = 96; // ::ffff:0:0/96

std::optional<network> parse_address(const std::string& text, unsigned& width) {
    network made;
    in_addr four{};
    if (inet_pton(AF_INET, text.c_str(), &four) == 1) {
        made.address[10] = made.address[11] = 0xFF;
        std::memcpy(&made.address[12], &four, sizeof four);
        width = 32;
        return made;
    }
    if (inet_pton(AF_INET6, text.c_str(), made.address.data()) != 1) return std::nullopt;
    width = 128;
    return made;
}

bool is_port(std::string_view digits) {
    const auto number = digits.empty() ? std::nullopt : parse_count(digits);
    return number && *number <= 65'535;
}

bool is_host(std::string_view host) {
    return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
        return c > ' ' && c < '\x7F' && std::string_view{"/?#@\\\"<>"}.find(c) == std::string::npos;
    });
}

} // namespace

bool is_endpoint(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view host = text.substr(0, colon);
    const bool bare_six = host.find(':') != std::string_view::npos && !host.starts_with('[');
    return is_host(host) && !bare_six && is_port(text.substr(colon + 1));
}

bool is_http_url(std::string_view text) {
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (!text.starts_with(scheme)) continue;
        const std::string_view rest = text.substr(scheme.size());
        const std::string_view authority = rest.substr(0, rest.find_first_of("/?"));
        const auto colon = authority.rfind(':');
        const bool port = colon != std::string_view::npos && !authority.ends_with(']');
        const bool fine = port ? is_endpoint(authority) : is_host(authority);
        return fine && rest.find_first_of(" #@\\\t\r\n") == std::string_view::npos;
    }
    return false;
}

std::optional<network> parse_network(std::string_view text) {
    const auto slash = text.find('/');
    unsigned width = 0;
    auto made = parse_address(std::string{text.substr(0, slash)}, width);
    if (!made || slash == std::string_view::npos) return made;
    const std::string_view digits = text.substr(slash + 1);
    const auto bits = digits.empty() ? std::nullopt : parse_count(digits);
    if (!bits || *bits > width) return std::nullopt;
    made->bits = static_cast<unsigned>(*bits) + (width == 32 ? mapped_bits : 0);
    return made;
}

bool holds(const network& all, std::string_view address) {
    unsigned width = 0;
    const auto one = parse_address(std::string{address}, width);
    if (!one) return false;
    for (unsigned bit = 0; bit < all.bits; ++bit) {
        const unsigned mask = 0x80U >> (bit % 8);
        if (((all.address[bit / 8] ^ one->address[bit / 8]) & mask) != 0) return false;
    }
    return true;
}

} // namespace semel::config
