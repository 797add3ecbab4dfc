#include "semel/open.hpp"

#include <cstdint>

#include "open/targets.hpp"
#include "open/url.hpp"
#include "semel/stores/memory.hpp"

namespace semel {

namespace {

using opened = result<std::unique_ptr<store>>;

constexpr std::uint64_t records_unit = 1'000;
constexpr std::uint64_t bytes_unit = 1'024;

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

opened open_memory(const store_url& url, const open_options& options) {
    if (!url.target.empty()) {
        return refused("'memory:' has no path, but the URL names '" + url.target + "'");
    }
    if (options.mode != open_mode::create) {
        return failure{.code = errc::unsupported,
                       .possible = effect::none,
                       .detail =
                           "'memory:' keeps its records inside one process: ask that process, "
                           "by its console or its API"};
    }
    memory_options own;
    url_parameters given{url};
    given.number("records_max", own.records_max, records_unit);
    given.number("bytes_max", own.bytes_max, bytes_unit);
    if (auto read = given.finish(); !read) return std::move(read).error();
    return make_memory_store(own);
}

opened open_sqlite(const store_url& url, const open_options& options) {
    const auto own = sqlite_target(url, options);
    if (!own) return own.error();
    return open_sqlite_store(*own);
}

opened open_postgres(const store_url& url, const open_options& options) {
    const auto own = postgres_target(url, options);
    if (!own) return own.error();
    return open_postgres_store(*own);
}

opened open_mysql(const store_url& url, const open_options& options) {
    const auto own = mysql_target(url, options);
    if (!own) return own.error();
    return open_mysql_store(*own);
}

opened open_redis(const store_url& url, const open_options& options) {
    const auto own = redis_target(url, options);
    if (!own) return own.error();
    return open_redis_store(*own);
}

opened open_tiered(const store_url& url, const open_options& options) {
    const auto own = tiered_target(url);
    if (!own) return own.error();
    if (options.mode == open_mode::read_only) return open(own->truth, options);
    auto front = open_front(own->front, options);
    if (!front) return std::move(front).error();
    auto truth = open(own->truth, options);
    if (!truth) return truth;
    return tiered(*std::move(front), *std::move(truth), own->options);
}

struct driver {
    std::string_view scheme;
    opened (*open)(const store_url& url, const open_options& options);
};

// A new driver is a line here, a function above, a form in unknown_store.cpp, and a library in
// CMakeLists.txt.
constexpr driver drivers[]{
    {"memory", open_memory},       {"sqlite", open_sqlite}, {"tiered", open_tiered},
    {"redis", open_redis},         {"rediss", open_redis},  {"postgres", open_postgres},
    {"postgresql", open_postgres}, {"mysql", open_mysql},   {"mariadb", open_mysql},
};

} // namespace

opened open(std::string_view url, const open_options& options) {
    const auto parsed = parse_url(url);
    if (!parsed) return parsed.error();
    for (const auto& one : drivers) {
        if (one.scheme == parsed->scheme) return one.open(*parsed, options);
    }
    return unknown_store(url);
}

} // namespace semel
