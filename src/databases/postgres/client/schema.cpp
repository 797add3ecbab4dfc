#include "databases/postgres/client/schema.hpp"

#include <algorithm>
#include <charconv>

namespace semel::postgres {

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
    return {.code = code, .possible = effect::none, .detail = "postgres: " + std::move(detail)};
}

failure newer(std::int64_t found) {
    return refused(errc::schema_newer, "the tables have version " + std::to_string(found) +
                                           ", this semel knows up to " + std::to_string(newest()) +
                                           "; use a newer semel for this database");
}

// What is new belongs where the tables are, wherever this user's own would go.
constexpr std::string_view go_to_tables =
    "SELECT set_config('search_path', concat(quote_ident(n.nspname), ', ', "
    "current_setting('search_path')), true) FROM pg_class c JOIN pg_namespace n ON n.oid = "
    "c.relnamespace WHERE c.oid = 'semel_meta'::regclass;\n\n";

std::string upgrade(std::int64_t from, std::string_view prefix) {
    std::string made = from == 0 ? "" : with_prefix(go_to_tables, prefix);
    for (const auto& one : migrations().subspan(static_cast<std::size_t>(from))) {
        made += "-- " + std::string{one.name} + "\n" + with_prefix(one.text, prefix) + "\n";
    }
    return made + with_prefix("INSERT INTO semel_meta (name, value) VALUES ('schema_version', " +
                                  std::to_string(newest()) +
                                  ") ON CONFLICT (name) DO UPDATE SET value = excluded.value;\n",
                              prefix);
}

result<std::int64_t> ask(connection& on, const std::string& sql, local_time deadline) {
    const auto got = on.query(sql, deadline);
    if (!got) return got.error();
    return number_in(*got);
}

// In a transaction. Other migrations are locked out meanwhile.
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

// No capitals: the server would fold them unless they were quoted everywhere.
bool valid_prefix(std::string_view prefix) {
    if (prefix.empty() || prefix.size() > prefix_bytes_max || is_digit(prefix.front()))
        return false;
    return std::all_of(prefix.begin(), prefix.end(),
                       [](char one) { return is_letter(one) || is_digit(one); });
}

std::string tables_there_text(std::string_view prefix) {
    return with_prefix("SELECT (to_regclass('semel_meta') IS NOT NULL)::int", prefix);
}

// No table uses the lock, so a copy of the tables may lack it: then they are as old as before it.
std::string version_text(std::string_view prefix) {
    return with_prefix("SELECT CASE WHEN to_regtype('semel_key_lock') IS NULL THEN least(value, 5) "
                       "ELSE value END FROM semel_meta WHERE name = 'schema_version'",
                       prefix);
}

std::int64_t number_in(const rows& got) {
    std::int64_t value = 0;
    if (got.count() == 0) return value;
    const auto text = got.bytes(0, 0);
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

result<std::int64_t> schema_version(connection& on, std::string_view prefix, local_time deadline) {
    auto there = ask(on, tables_there_text(prefix), deadline);
    if (!there || *there == 0) return there;
    return ask(on, version_text(prefix), deadline);
}

result<void> check_schema(connection& on, std::string_view prefix, local_time deadline) {
    const auto version = schema_version(on, prefix, deadline);
    if (!version) return version.error();
    return check_version(*version, prefix);
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
    // Held to the end of the transaction, whatever becomes of it.
    const std::string begin = "BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('" +
                              std::string{prefix} + "migrate', 0))";
    if (auto begun = on.query(begin, deadline); !begun) return std::move(begun).error();
    auto report = bring_up_to_date(on, prefix, mode, deadline);
    auto ended = on.query(report ? "COMMIT" : "ROLLBACK", deadline);
    if (report && !ended) return std::move(ended).error();
    return report;
}

} // namespace semel::postgres
