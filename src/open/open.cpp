#include "semel/open.hpp"

#include <chrono>
#include <cstdint>

#include "open/url.hpp"
#include "semel/stores/memory.hpp"
#include "semel/stores/sqlite.hpp"

namespace semel {

namespace {

using opened = result<std::unique_ptr<store>>;

constexpr std::uint64_t records_unit = 1'000;
constexpr std::uint64_t bytes_unit = 1'024;

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

opened open_memory(const store_url& url, const open_options&) {
    if (!url.target.empty()) {
        return refused("'memory:' has no path, but the URL names '" + url.target + "'");
    }
    memory_options own;
    url_parameters given{url};
    given.number("records_max", own.records_max, records_unit);
    given.number("bytes_max", own.bytes_max, bytes_unit);
    if (auto read = given.finish(); !read) return std::move(read).error();
    return make_memory_store(own);
}

opened open_sqlite(const store_url& url, const open_options& options) {
    sqlite_options own{.path = url.target};
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
    std::int64_t lock_wait_ms =
        std::chrono::duration_cast<std::chrono::milliseconds>(own.lock_wait).count();
    url_parameters given{url};
    given.text("prefix", own.table_prefix);
    given.number("lock_wait_ms", lock_wait_ms, records_unit);
    given.number("cache_bytes", own.cache_bytes, bytes_unit);
    if (auto read = given.finish(); !read) return std::move(read).error();
    own.lock_wait = std::chrono::milliseconds{lock_wait_ms};
    return open_sqlite_store(own);
}

struct driver {
    std::string_view scheme;
    std::string_view form; // for error messages
    opened (*open)(const store_url& url, const open_options& options);
};

// A new driver is a line here, a function above, and a library in CMakeLists.txt.
constexpr driver drivers[]{
    {"memory", "memory:", open_memory},
    {"sqlite", "sqlite:path", open_sqlite},
};

failure unknown(std::string_view url) {
    std::string known;
    for (const auto& one : drivers) known += (known.empty() ? "" : ", ") + std::string{one.form};
    return {.code = errc::unknown_store,
            .possible = effect::none,
            .detail = "no store answers to '" + std::string{url} + "'; known: " + known};
}

} // namespace

opened open(std::string_view url, const open_options& options) {
    const auto parsed = parse_url(url);
    if (!parsed) return parsed.error();
    for (const auto& one : drivers) {
        if (one.scheme == parsed->scheme) return one.open(*parsed, options);
    }
    return unknown(url);
}

} // namespace semel
