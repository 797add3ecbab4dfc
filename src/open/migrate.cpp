#include <filesystem>

#include "databases/sqlite/client/connection.hpp"
#include "databases/sqlite/client/schema.hpp"
#include "net/url.hpp"
#include "open/targets.hpp"
#include "semel/open.hpp"

namespace semel {

namespace {

using migrated = result<migration_report>;

std::string upgrade_sqlite(std::int64_t from, std::string_view prefix) {
    std::string made;
    for (const auto& one : sqlite::migrations().subspan(static_cast<std::size_t>(from))) {
        made += "-- " + std::string{one.name} + "\n" + sqlite::with_prefix(one.text, prefix) + "\n";
    }
    return made + sqlite::with_prefix("INSERT INTO semel_meta (name, value) VALUES "
                                      "('schema_version', " +
                                          std::to_string(sqlite::migrations().size()) +
                                          ") ON CONFLICT (name) DO UPDATE SET value = "
                                          "excluded.value;\n",
                                      prefix);
}

// Opening the file as a store does the same; this is for those who want to see it first.
migrated migrate_sqlite(const net::parsed_url& url, migrate_mode mode,
                        const store_options& options) {
    const auto own = sqlite_target(url, options);
    if (!own) return own.error();
    if (!sqlite::valid_prefix(own->table_prefix)) {
        return failure{.code = errc::invalid_argument,
                       .possible = effect::none,
                       .detail = "sqlite: '" + own->table_prefix + "' is not a table prefix"};
    }
    const auto newest = static_cast<std::int64_t>(sqlite::migrations().size());
    migration_report report{.from = 0, .to = newest, .sql = {}};
    // A dry run must not create the file.
    if (mode == migrate_mode::dry_run && !std::filesystem::exists(own->path)) {
        report.sql = upgrade_sqlite(0, own->table_prefix);
        return report;
    }
    const auto how = mode == migrate_mode::dry_run ? open_mode::read_only : open_mode::create;
    auto on =
        sqlite::connection::open({.path = own->path, .lock_wait = own->lock_wait, .mode = how});
    if (!on) return std::move(on).error();
    const auto version = sqlite::schema_version(**on, own->table_prefix);
    if (!version) return version.error();
    report.from = *version;
    if (*version < newest) report.sql = upgrade_sqlite(*version, own->table_prefix);
    if (mode == migrate_mode::dry_run || report.sql.empty()) return report;
    if (auto opened = open_sqlite_store(*own); !opened) return std::move(opened).error();
    return report;
}

migrated migrate_postgres_at(const net::parsed_url& url, migrate_mode mode,
                             const store_options& options) {
    const auto own = postgres_target(url, options);
    if (!own) return own.error();
    return migrate_postgres(*own, mode);
}

migrated migrate_mysql_at(const net::parsed_url& url, migrate_mode mode,
                          const store_options& options) {
    const auto own = mysql_target(url, options);
    if (!own) return own.error();
    return migrate_mysql(*own, mode);
}

migrated has_no_tables(const net::parsed_url& url, migrate_mode, const store_options&) {
    return failure{.code = errc::unsupported,
                   .possible = effect::none,
                   .detail = "'" + url.scheme + ":' stores have no tables; nothing to migrate"};
}

// The front has no tables.
migrated migrate_truth(const net::parsed_url& url, migrate_mode mode,
                       const store_options& options) {
    const auto own = tiered_target(url);
    if (!own) return own.error();
    return migrate(own->truth, mode, options);
}

struct driver {
    std::string_view scheme;
    migrated (*migrate)(const net::parsed_url& url, migrate_mode mode,
                        const store_options& options);
};

constexpr driver drivers[]{
    {"sqlite", migrate_sqlite},          {"postgres", migrate_postgres_at},
    {"postgresql", migrate_postgres_at}, {"tiered", migrate_truth},
    {"mysql", migrate_mysql_at},         {"mariadb", migrate_mysql_at},
    {"memory", has_no_tables},           {"redis", has_no_tables},
    {"rediss", has_no_tables},
};

} // namespace

migrated migrate(std::string_view url, migrate_mode mode, const store_options& options) {
    const auto parsed = net::parse_url(url);
    if (!parsed) return parsed.error();
    for (const auto& one : drivers) {
        if (one.scheme == parsed->scheme) return one.migrate(*parsed, mode, options);
    }
    return unknown_store(url);
}

} // namespace semel
