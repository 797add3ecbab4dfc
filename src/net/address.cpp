#include "net/address.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "net/shown_url.hpp"
#include "net/url_text.hpp"

namespace semel::net {
namespace {

failure invalid(std::string_view text, std::string_view why) {
    return {.code = errc::invalid_argument,
            .detail = "\"" + std::string{text} + "\": " + std::string{why}};
}

bool is_host(std::string_view host) {
    if (host.find(':') != std::string_view::npos) return parse_address(host).has_value();
    return !host.empty() && std::all_of(host.begin(), host.end(), is_host_char);
}

struct split {
    std::string_view host;
    std::optional<std::string_view> port;
};

// Takes the brackets off an IPv6 address.
split split_host_port(std::string_view text) {
    if (!text.starts_with('[')) {
        const std::size_t colon = text.rfind(':');
        if (colon == std::string_view::npos) return {.host = text, .port = std::nullopt};
        const bool literal = text.find(':') != colon; // belongs in brackets
        if (literal) return {.host = {}, .port = std::nullopt};
        return {.host = text.substr(0, colon), .port = text.substr(colon + 1)};
    }
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return {.host = {}, .port = std::nullopt};
    const std::string_view rest = text.substr(end + 1);
    const bool literal = text.substr(1, end - 1).find(':') != std::string_view::npos;
    if (!literal) return {.host = {}, .port = std::nullopt};
    if (rest.empty()) return {.host = text.substr(1, end - 1), .port = std::nullopt};
    if (rest.front() != ':') return {.host = {}, .port = std::nullopt};
    return {.host = text.substr(1, end - 1), .port = rest.substr(1)};
}

std::optional<std::uint16_t> number_of(std::string_view digits) {
    std::uint16_t number = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), number);
    if (error != std::errc{} || end != digits.end()) return std::nullopt;
    return number;
}

} // namespace

std::string host_port::text() const {
    const bool literal = host.find(':') != std::string::npos;
    return (literal ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

result<host_port> parse_host_port(std::string_view text) {
    const split parts = split_host_port(text);
    if (!is_host(parts.host)) return invalid(text, "expected HOST:PORT, as in 127.0.0.1:7070");
    if (!parts.port) return invalid(text, "the port is missing");
    const auto port = number_of(*parts.port);
    if (!port) return invalid(text, "the port must be a number up to 65535");
    return host_port{.host = std::string{parts.host}, .port = *port};
}

result<base_url> parse_base_url(std::string_view text) {
    base_url made;
    std::string_view rest = text;
    if (rest.starts_with("https://")) {
        made.how = base_url::scheme::https;
    } else if (!rest.starts_with("http://")) {
        return invalid(shown_url(text), "expected http:// or https://");
    }
    rest.remove_prefix(rest.find("//") + 2);
    if (rest.find_first_of("?#@") != std::string_view::npos) {
        return invalid(shown_url(text), "a user, query or fragment does not belong here");
    }
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    const split parts = split_host_port(rest.substr(0, slash));
    if (!is_host(parts.host)) return invalid(shown_url(text), "the host is malformed");
    made.at.host = parts.host;
    made.at.port = made.how == base_url::scheme::https ? 443 : 80;
    if (parts.port) {
        const auto port = number_of(*parts.port);
        if (!port || *port == 0)
            return invalid(shown_url(text), "the port must be a number from 1 to 65535");
        made.at.port = *port;
    }
    made.path = rest.substr(slash);
    while (made.path.ends_with('/')) made.path.pop_back();
    if (!std::all_of(made.path.begin(), made.path.end(),
                     [](char one) { return one > ' ' && one < '\x7F'; })) {
        return invalid(shown_url(text), "the path holds a byte it must not");
    }
    return made;
}

std::optional<address_bytes> parse_address(std::string_view text) {
    const std::string spelt{text};
    address_bytes bytes{};
    if (in6_addr six{}; inet_pton(AF_INET6, spelt.c_str(), &six) == 1) {
        std::memcpy(bytes.data(), &six, bytes.size());
        return bytes;
    }
    in_addr four{};
    if (inet_pton(AF_INET, spelt.c_str(), &four) != 1) return std::nullopt;
    bytes[10] = bytes[11] = 0xff;
    std::memcpy(bytes.data() + 12, &four, 4);
    return bytes;
}

std::string block_of(std::string_view address) {
    in6_addr six{};
    const bool is_six = inet_pton(AF_INET6, std::string{address}.c_str(), &six) == 1;
    if (!is_six) return std::string{address};
    std::memset(&six.s6_addr[8], 0, 8);
    char text[INET6_ADDRSTRLEN] = {};
    inet_ntop(AF_INET6, &six, text, sizeof text);
    return std::string{text} + "/64";
}

result<network> network::parse(std::string_view text) {
    const std::size_t slash = text.find('/');
    const std::string_view base = text.substr(0, slash);
    const auto address = parse_address(base);
    if (!address) return invalid(text, "expected an address or a network, as in 10.0.0.0/8");
    const unsigned width = base.find(':') == std::string_view::npos ? 32 : 128;
    network made;
    made.base_ = *address;
    if (slash == std::string_view::npos) return made;
    const auto bits = number_of(text.substr(slash + 1));
    if (!bits || *bits > width) return invalid(text, "the prefix is too long or not a number");
    made.bits_ = 128 - width + *bits;
    return made;
}

bool network::contains(const address_bytes& address) const {
    const unsigned whole = bits_ / 8;
    if (!std::equal(base_.begin(), base_.begin() + whole, address.begin())) return false;
    const unsigned rest = bits_ % 8;
    if (rest == 0) return true;
    const auto mask = static_cast<std::uint8_t>(0xff00U >> rest);
    return (base_[whole] & mask) == (address[whole] & mask);
}

bool any_contains(const std::vector<network>& networks, const address_bytes& address) {
    return std::any_of(networks.begin(), networks.end(),
                       [&](const network& one) { return one.contains(address); });
}

} // namespace semel::net
