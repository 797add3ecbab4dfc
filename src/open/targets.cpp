#include "open/targets.hpp"

#include <chrono>
#include <cstdint>

namespace semel {

namespace {

constexpr std::uint64_t count_unit = 1'000;
constexpr std::uint64_t bytes_unit = 1'024;

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

// A parameter in milliseconds.
void milliseconds(net::url_parameters& from, std::string_view name, duration& to) {
    std::int64_t count = std::chrono::duration_cast<std::chrono::milliseconds>(to).count();
    from.number(name, count, count_unit);
    to = std::chrono::milliseconds{count};
}

bool is_plain(char one) {
    return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9');
}

std::string encoded(std::string_view value) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string made;
    for (const char one : value) {
        const auto byte = static_cast<unsigned char>(one);
        if (is_plain(one)) {
            made += one;
        } else {
            made += '%';
            made += digits[byte >> 4];
            made += digits[byte & 15];
        }
    }
    return made;
}

} // namespace

result<sqlite_store_options> sqlite_target(const net::parsed_url& url,
                                           const store_options& options) {
    sqlite_store_options own{.path = url.target};
    if (own.path.starts_with("//")) {
        // sqlite:///var/lib/orders.db: an empty host, then the path.
        if (!own.path.starts_with("///")) {
            return refused("'sqlite://" + own.path.substr(2) +
                           "' names a host; write sqlite:path or sqlite:///absolute/path");
        }
        own.path.erase(0, 2);
    }
    own.table_prefix = options.table_prefix;
    own.queue_max = options.queue_max;
    own.mode = options.mode;
    net::url_parameters given{url};
    given.text("prefix", own.table_prefix);
    milliseconds(given, "lock_wait_ms", own.lock_wait);
    given.number("cache_bytes", own.cache_bytes, bytes_unit);
    if (auto read = given.finish(); !read) return std::move(read).error();
    return own;
}

// Parameters that are not ours are libpq's: sslmode, sslrootcert, application_name …
result<postgres_store_options> postgres_target(const net::parsed_url& url,
                                               const store_options& options) {
    postgres_store_options own;
    own.table_prefix = options.table_prefix;
    own.queue_max = options.queue_max;
    own.counters = options.counters;
    own.mode = options.mode;
    net::url_parameters given{url};
    given.text("prefix", own.table_prefix);
    given.number("lanes", own.lanes, count_unit);
    given.number("batch_max", own.batch_max, count_unit);
    milliseconds(given, "statement_timeout_ms", own.statement_timeout);
    milliseconds(given, "lock_timeout_ms", own.lock_timeout);
    own.url = url.base;
    char separator = '?';
    for (const auto& [name, value] : given.rest()) {
        own.url += separator + name + "=" + encoded(value);
        separator = '&';
    }
    if (auto read = given.finish(); !read) return std::move(read).error();
    return own;
}

} // namespace semel
