#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>

#include "open/targets.hpp"

namespace semel {

namespace {

constexpr std::uint64_t count_unit = 1'000;

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

template <class Number> bool read_number(std::string_view text, Number& to) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), to);
    return error == std::errc{} && end == text.data() + text.size() && !text.empty();
}

void read_milliseconds(net::url_parameters& from, std::string_view name, duration& to) {
    std::int64_t count = std::chrono::duration_cast<std::chrono::milliseconds>(to).count();
    from.number(name, count, count_unit);
    to = std::chrono::milliseconds{count};
}

// `user:password`, `:password`
result<void> read_user(std::string_view text, redis_store_options& to) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) {
        return refused("the URL of a Redis server names a user and no password; write "
                       "user:password@host or :password@host");
    }
    to.user = text.substr(0, colon);
    to.password = text.substr(colon + 1);
    return {};
}

// `host`, `host:port`, `[address]:port`
result<void> read_host(std::string_view text, redis_store_options& to) {
    std::size_t end = text.find(':');
    if (text.starts_with('[')) {
        end = text.find(']');
        if (end == std::string_view::npos) return refused("'[' in a Redis URL needs a ']'");
        to.host = text.substr(1, end - 1);
        ++end;
    } else if (!text.empty()) {
        to.host = text.substr(0, end);
    }
    if (end >= text.size()) return {};
    const std::string_view port = text.substr(end);
    if (!port.starts_with(':') || !read_number(port.substr(1), to.port) || to.port == 0) {
        return refused("the port in a Redis URL must be a number from 1 to 65535");
    }
    return {};
}

// `//user:password@host:port/database`. A password may hold anything, so it ends at the last `@`.
result<void> read_place(std::string_view text, redis_store_options& to) {
    if (!text.starts_with("//")) return refused("write redis://host:port/database");
    text.remove_prefix(2);
    const std::size_t at = text.rfind('@');
    if (at != std::string_view::npos) {
        if (auto read = read_user(text.substr(0, at), to); !read) return read;
        text.remove_prefix(at + 1);
    }
    const std::size_t slash = text.find('/');
    if (slash != std::string_view::npos && slash + 1 < text.size() &&
        !read_number(text.substr(slash + 1), to.database)) {
        return refused("the database in a Redis URL must be a number");
    }
    return read_host(text.substr(0, slash), to);
}

template <class Choice> struct choice {
    std::string_view word;
    Choice meaning;
};

template <class Choice, std::size_t N>
result<void> read_choice(net::url_parameters& from, std::string_view name,
                         const choice<Choice> (&choices)[N], Choice& to) {
    std::string given;
    from.text(name, given);
    if (given.empty()) return {};
    std::string known;
    for (const auto& one : choices) {
        if (one.word == given) {
            to = one.meaning;
            return {};
        }
        known += (known.empty() ? "" : " or ") + std::string{one.word};
    }
    return refused("parameter " + std::string{name} + " of a Redis URL must be " + known);
}

constexpr choice<redis_eviction> evictions[]{{"refuse", redis_eviction::refuse},
                                             {"warn", redis_eviction::warn}};
constexpr choice<redis_wake> wakes[]{{"publish", redis_wake::publish}, {"none", redis_wake::none}};

} // namespace

result<void> read_redis_connection(const net::parsed_url& url, net::url_parameters& given,
                                   redis_store_options& to) {
    to.tls = url.scheme == "rediss";
    if (auto read = read_place(url.target, to); !read) return read;
    read_milliseconds(given, "connect_timeout_ms", to.connect_timeout);
    read_milliseconds(given, "command_timeout_ms", to.command_timeout);
    given.text("ca_file", to.ca_file);
    given.text("cert_file", to.cert_file);
    given.text("key_file", to.key_file);
    const bool files = !to.ca_file.empty() || !to.cert_file.empty() || !to.key_file.empty();
    if (files && !to.tls) return refused("certificates need TLS; write rediss:// for redis://");
    return {};
}

result<redis_store_options> redis_target(const net::parsed_url& url, const store_options& options,
                                         redis_store_options own) {
    own.queue_max = options.queue_max;
    own.counters = options.counters;
    own.mode = options.mode;
    net::url_parameters given{url};
    if (auto read = read_redis_connection(url, given, own); !read) return std::move(read).error();
    given.text("prefix", own.prefix);
    given.number("lanes", own.lanes, count_unit);
    given.number("batch_max", own.batch_max, count_unit);
    if (auto read = read_choice(given, "eviction", evictions, own.eviction); !read) {
        return std::move(read).error();
    }
    if (auto read = read_choice(given, "wake", wakes, own.wake); !read) {
        return std::move(read).error();
    }
    if (auto read = given.finish(); !read) return std::move(read).error();
    return own;
}

} // namespace semel
