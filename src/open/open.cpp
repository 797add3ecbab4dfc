#include "semel/open.hpp"

#include <cstdint>

#include "net/url.hpp"
#include "open/targets.hpp"
#include "semel/store/memory.hpp"

namespace semel {

namespace {

using opened = result<std::unique_ptr<store>>;

constexpr std::uint64_t records_unit = 1'000;
constexpr std::uint64_t bytes_unit = 1'024;

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

result<memory_store_options> memory_target(const net::parsed_url& url,
                                           const store_options& options) {
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
    memory_store_options own;
    net::url_parameters given{url};
    given.number("records_max", own.records_max, records_unit);
    given.number("bytes_max", own.bytes_max, bytes_unit);
    if (auto read = given.finish(); !read) return std::move(read).error();
    return own;
}

result<redis_store_options> redis_store_target(const net::parsed_url& url,
                                               const store_options& options) {
    return redis_target(url, options);
}

opened open_memory(const memory_store_options& options) {
    return open_memory_store(options);
}

result<void> check(const memory_store_options&) {
    return {};
}

template <auto target, auto open>
opened opened_by(const net::parsed_url& url, const store_options& with) {
    const auto own = target(url, with);
    if (!own) return own.error();
    return open(*own);
}

template <auto target>
result<void> checked_by(const net::parsed_url& url, const store_options& with) {
    const auto own = target(url, with);
    if (!own) return own.error();
    return check(*own);
}

opened open_tiered(const net::parsed_url& url, const store_options& options) {
    const auto own = tiered_target(url);
    if (!own) return own.error();
    if (options.mode == open_mode::read_only) return open_store(own->truth, options);
    auto front = open_front(own->front, options);
    if (!front) return std::move(front).error();
    auto truth = open_store(own->truth, options);
    if (!truth) return truth;
    return open_tiered_store(*std::move(front), *std::move(truth), own->options);
}

result<void> check_tiered(const net::parsed_url& url, const store_options& options) {
    const auto own = tiered_target(url);
    if (!own) return own.error();
    const auto front = front_target(own->front, options);
    if (!front) return front.error();
    if (auto fine = check(*front); !fine) return fine;
    return check_url(own->truth, options);
}

struct driver {
    std::string_view scheme;
    opened (*open)(const net::parsed_url& url, const store_options& options);
    result<void> (*check)(const net::parsed_url& url, const store_options& options);
};

template <auto target, auto open> constexpr driver driver_of(std::string_view scheme) {
    return {scheme, opened_by<target, open>, checked_by<target>};
}

// A new driver is a line here, a form in unknown_store.cpp, and a library in CMakeLists.txt.
constexpr driver drivers[]{
    driver_of<memory_target, open_memory>("memory"),
    driver_of<sqlite_target, open_sqlite_store>("sqlite"),
    {"tiered", open_tiered, check_tiered},
    driver_of<redis_store_target, open_redis_store>("redis"),
    driver_of<redis_store_target, open_redis_store>("rediss"),
    driver_of<postgres_target, open_postgres_store>("postgres"),
    driver_of<postgres_target, open_postgres_store>("postgresql"),
    driver_of<mysql_target, open_mysql_store>("mysql"),
    driver_of<mysql_target, open_mysql_store>("mariadb"),
};

const driver* driver_named(std::string_view scheme) {
    for (const driver& one : drivers) {
        if (one.scheme == scheme) return &one;
    }
    return nullptr;
}

} // namespace

opened open_store(std::string_view url, const store_options& options) {
    const auto parsed = net::parse_url(url);
    if (!parsed) return parsed.error();
    const driver* const by = driver_named(parsed->scheme);
    return by == nullptr ? unknown_store(url) : by->open(*parsed, options);
}

result<void> check_url(std::string_view url, const store_options& options) {
    const auto parsed = net::parse_url(url);
    if (!parsed) return parsed.error();
    const driver* const by = driver_named(parsed->scheme);
    return by == nullptr ? unknown_store(url) : by->check(*parsed, options);
}

} // namespace semel
