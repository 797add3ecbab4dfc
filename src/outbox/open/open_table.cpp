#include "net/url.hpp"
#include "open/targets.hpp"
#include "semel/databases/mysql/outbox.hpp"
#include "semel/databases/postgres/outbox.hpp"
#include "semel/databases/sqlite/outbox.hpp"
#include "semel/outbox/open.hpp"

namespace semel::outbox {

namespace {

using opened = result<std::unique_ptr<table>>;

store_options options_of(const table_options& from) {
    return {.table_prefix = from.table_prefix, .mode = from.mode};
}

template <auto target, auto open>
opened opened_by(const net::parsed_url& url, const table_options& with) {
    const auto own = target(url, options_of(with));
    if (!own) return own.error();
    return open(*own, with);
}

template <auto target>
result<void> checked_by(const net::parsed_url& url, const table_options& with) {
    const auto own = target(url, options_of(with));
    if (!own) return own.error();
    return check(*own);
}

opened open_truth(const net::parsed_url& url, const table_options& options) {
    const auto own = tiered_target(url);
    if (!own) return own.error();
    return open_table(own->truth, options);
}

result<void> check_truth(const net::parsed_url& url, const table_options& options) {
    const auto own = tiered_target(url);
    if (!own) return own.error();
    return check_table_url(own->truth, options);
}

failure without_tables(const net::parsed_url& url) {
    return {.code = errc::unsupported,
            .possible = effect::none,
            .detail = "'" + url.scheme +
                      ":' stores have no outbox; it is in the database "
                      "of the application"};
}

opened has_no_tables(const net::parsed_url& url, const table_options&) {
    return without_tables(url);
}

result<void> check_no_tables(const net::parsed_url& url, const table_options&) {
    return without_tables(url);
}

struct driver {
    std::string_view scheme;
    opened (*open)(const net::parsed_url& url, const table_options& options);
    result<void> (*check)(const net::parsed_url& url, const table_options& options);
};

template <auto target, auto open> constexpr driver driver_of(std::string_view scheme) {
    return {scheme, opened_by<target, open>, checked_by<target>};
}

constexpr driver drivers[]{
    driver_of<sqlite_target, open_sqlite_table>("sqlite"),
    driver_of<postgres_target, open_postgres_table>("postgres"),
    driver_of<postgres_target, open_postgres_table>("postgresql"),
    driver_of<mysql_target, open_mysql_table>("mysql"),
    driver_of<mysql_target, open_mysql_table>("mariadb"),
    {"tiered", open_truth, check_truth},
    {"memory", has_no_tables, check_no_tables},
    {"redis", has_no_tables, check_no_tables},
    {"rediss", has_no_tables, check_no_tables},
};

const driver* driver_named(std::string_view scheme) {
    for (const driver& one : drivers) {
        if (one.scheme == scheme) return &one;
    }
    return nullptr;
}

} // namespace

result<std::unique_ptr<table>> open_table(std::string_view url, const table_options& options) {
    const auto parsed = net::parse_url(url);
    if (!parsed) return parsed.error();
    const driver* const by = driver_named(parsed->scheme);
    return by == nullptr ? unknown_store(url) : by->open(*parsed, options);
}

result<void> check_table_url(std::string_view url, const table_options& options) {
    const auto parsed = net::parse_url(url);
    if (!parsed) return parsed.error();
    const driver* const by = driver_named(parsed->scheme);
    return by == nullptr ? unknown_store(url) : by->check(*parsed, options);
}

} // namespace semel::outbox
