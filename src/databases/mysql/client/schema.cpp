#include "databases/mysql/client/schema.hpp"

#include <algorithm>

namespace semel::mysql {

namespace {

constexpr std::string_view written_prefix = "semel_";
constexpr std::size_t prefix_bytes_max = 32;

bool is_letter(char one) {
    return (one >= 'a' && one <= 'z') || one == '_';
}

bool is_digit(char one) {
    return one >= '0' && one <= '9';
}

std::int64_t newest() {
    return static_cast<std::int64_t>(migrations().size());
}

failure refused(errc code, std::string detail) {
    return {.code = code, .possible = effect::none, .detail = "mysql: " + std::move(detail)};
}

failure newer(std::int64_t found) {
    return refused(errc::schema_newer, "the tables have version " + std::to_string(found) +
                                           ", this semel knows up to " + std::to_string(newest()) +
                                           "; use a newer semel for this database");
}

std::string upgrade(std::int64_t from, std::string_view prefix) {
    std::string made;
    for (const auto& one : migrations().subspan(static_cast<std::size_t>(from))) {
        made += "-- " + std::string{one.name} + "\n" + with_prefix(one.text, prefix) + "\n";
    }
    return made + with_prefix("INSERT INTO semel_meta (name, value) VALUES ('schema_version', " +
                                  std::to_string(newest()) + ") ON DUPLICATE KEY UPDATE value = " +
                                  std::to_string(newest()) + ";\n",
                              prefix);
}

// Locks are the server's, not the database's. Two databases of one name would only wait for each
// other, so the checksum need not be a strong one: MD5() is gone from MySQL 9.6.
std::string lock_name(std::string_view prefix) {
    return "CONCAT('semel.',CRC32(CONCAT(DATABASE(),'/" + std::string{prefix} + "migrate')))";
}

// Other migrations are locked out meanwhile.
result<migration_report> bring_up_to_date(connection& on, std::string_view prefix,
                                          migrate_mode mode, local_time deadline) {
    const auto version = schema_version(on, prefix, deadline);
    if (!version) return version.error();
    if (*version > newest()) return newer(*version);
    migration_report report{.from = *version, .to = newest(), .sql = {}};
    if (*version == newest()) return report;
    report.sql = upgrade(*version, prefix);
    if (mode == migrate_mode::dry_run) return report;
    auto done = on.query(report.sql, deadline);
    if (!done) return std::move(done).error();
    return report;
}

} // namespace

std::string with_prefix(std::string_view sql, std::string_view prefix) {
    std::string made;
    made.reserve(sql.size());
    while (true) {
        const std::size_t at = sql.find(written_prefix);
        made += sql.substr(0, at);
        if (at == std::string_view::npos) return made;
        made += prefix;
        sql.remove_prefix(at + written_prefix.size());
    }
}

// Capitals are not allowed: on some machines the server distinguishes them, on others it does not.
bool valid_prefix(std::string_view prefix) {
    if (prefix.empty() || prefix.size() > prefix_bytes_max || is_digit(prefix.front()))
        return false;
    return std::all_of(prefix.begin(), prefix.end(),
                       [](char one) { return is_letter(one) || is_digit(one); });
}

result<std::int64_t> schema_version(connection& on, std::string_view prefix, local_time deadline) {
    auto there = on.query("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema="
                          "DATABASE() AND table_name='" +
                              std::string{prefix} + "meta'",
                          deadline);
    if (!there) return std::move(there).error();
    if (!there->next() || there->integer(0) == 0) return std::int64_t{0};
    auto version = on.query(
        with_prefix("SELECT value FROM semel_meta WHERE name='schema_version'", prefix), deadline);
    if (!version) return std::move(version).error();
    return version->next() ? version->integer(0) : std::int64_t{0};
}

result<void> check_version(std::int64_t found, std::string_view prefix) {
    if (found == newest()) return {};
    if (found > newest()) return newer(found);
    const std::string what =
        found == 0
            ? "the tables " + std::string{prefix} + "* are not there, or this user may not see them"
            : "the tables have the old version " + std::to_string(found);
    return refused(errc::schema_missing, what + ": run `semel migrate --store URL`");
}

result<migration_report> migrate(connection& on, std::string_view prefix, migrate_mode mode,
                                 local_time deadline) {
    const auto left =
        std::chrono::ceil<std::chrono::seconds>(deadline - local_clock::now()).count();
    const std::string patience = std::to_string(std::max<std::int64_t>(left, 1));
    // Every statement about a table locks rows of the server's own, which others may hold.
    auto locked = on.query("SET SESSION innodb_lock_wait_timeout=" + patience +
                               ";SELECT GET_LOCK(" + lock_name(prefix) + "," + patience + ")",
                           deadline);
    if (!locked) return std::move(locked).error();
    if (!locked->next() || locked->integer(0) != 1) {
        return refused(errc::timed_out, "another session has been migrating all the time");
    }
    auto report = bring_up_to_date(on, prefix, mode, deadline);
    // The end of the connection would do the same.
    if (auto free = on.query("DO RELEASE_LOCK(" + lock_name(prefix) + ")", deadline); !free) {
        return report;
    }
    return report;
}

} // namespace semel::mysql
