#include "open/targets.hpp"
#include "open/url.hpp"
#include "semel/outbox/mysql.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/postgres.hpp"
#include "semel/outbox/sqlite.hpp"

namespace semel::outbox {

namespace {

using opened = result<std::unique_ptr<table>>;

open_options store_options(const table_options& from) {
    return {.table_prefix = from.table_prefix, .mode = from.mode};
}

opened open_sqlite(const store_url& url, const table_options& options) {
    const auto own = sqlite_target(url, store_options(options));
    if (!own) return own.error();
    return open_sqlite_table(*own, options);
}

opened open_postgres(const store_url& url, const table_options& options) {
    const auto own = postgres_target(url, store_options(options));
    if (!own) return own.error();
    return open_postgres_table(*own, options);
}

opened open_mysql(const store_url& url, const table_options& options) {
    const auto own = mysql_target(url, store_options(options));
    if (!own) return own.error();
    return open_mysql_table(*own, options);
}

opened open_truth(const store_url& url, const table_options& options) {
    const auto own = tiered_target(url);
    if (!own) return own.error();
    return open_table(own->truth, options);
}

opened has_no_tables(const store_url& url, const table_options&) {
    return failure{.code = errc::unsupported,
                   .possible = effect::none,
                   .detail = "'" + url.scheme +
                             ":' stores have no outbox; it is in the database "
                             "of the application"};
}

struct driver {
    std::string_view scheme;
    opened (*open)(const store_url& url, const table_options& options);
};

constexpr driver drivers[]{
    {"sqlite", open_sqlite},   {"postgres", open_postgres}, {"postgresql", open_postgres},
    {"mysql", open_mysql},     {"mariadb", open_mysql},     {"tiered", open_truth},
    {"memory", has_no_tables}, {"redis", has_no_tables},    {"rediss", has_no_tables},
};

} // namespace

result<std::unique_ptr<table>> open_table(std::string_view url, const table_options& options) {
    const auto parsed = parse_url(url);
    if (!parsed) return parsed.error();
    for (const auto& one : drivers) {
        if (one.scheme == parsed->scheme) return one.open(*parsed, options);
    }
    return unknown_store(url);
}

} // namespace semel::outbox
