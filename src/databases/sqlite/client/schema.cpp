#include "databases/sqlite/client/schema.hpp"

#include <algorithm>

namespace semel::sqlite {

namespace {

constexpr std::string_view written_prefix = "semel_";
constexpr std::size_t prefix_bytes_max = 32;

bool is_letter(char one) {
    return (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || one == '_';
}

bool is_digit(char one) {
    return one >= '0' && one <= '9';
}

failure newer(std::int64_t found) {
    return {.code = errc::schema_newer,
            .possible = effect::none,
            .detail = "sqlite: the tables have version " + std::to_string(found) +
                      ", this semel knows up to " + std::to_string(migrations().size()) +
                      "; use a newer semel for this file"};
}

failure missing(std::int64_t found, std::string_view prefix) {
    std::string detail = "sqlite: ";
    if (found == 0) {
        detail += "the tables " + std::string{prefix} +
                  "* are not in this file; check path and prefix, or make them";
    } else {
        detail += "the tables have the old version " + std::to_string(found) + "; upgrade them";
    }
    return {.code = errc::schema_missing,
            .possible = effect::none,
            .detail = detail + ": `semel migrate --store URL`"};
}

// One integer, or 0 if the statement yields no row.
result<std::int64_t> ask(connection& on, std::string_view sql) {
    auto made = on.prepare(sql);
    if (!made) return std::move(made).error();
    query run{*made};
    auto stepped = run.step();
    if (!stepped) return std::move(stepped).error();
    return *stepped == query::step_result::row ? run.integer(0) : 0;
}

result<void> apply_from(std::int64_t version, connection& on, std::string_view prefix) {
    for (const auto& one : migrations().subspan(static_cast<std::size_t>(version))) {
        if (auto done = on.execute(with_prefix(one.text, prefix)); !done) return done;
    }
    return on.execute(with_prefix("INSERT INTO semel_meta (name, value) VALUES "
                                  "('schema_version', " +
                                      std::to_string(migrations().size()) +
                                      ") ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                                  prefix));
}

// In a write transaction.
result<void> bring_up_to_date(connection& on, std::string_view prefix) {
    const auto version = schema_version(on, prefix);
    if (!version) return version.error();
    if (*version == static_cast<std::int64_t>(migrations().size())) return {};
    return apply_from(*version, on, prefix);
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

bool valid_prefix(std::string_view prefix) {
    if (prefix.empty() || prefix.size() > prefix_bytes_max || is_digit(prefix.front()))
        return false;
    return std::all_of(prefix.begin(), prefix.end(),
                       [](char one) { return is_letter(one) || is_digit(one); });
}

result<std::int64_t> schema_version(connection& on, std::string_view prefix) {
    const auto tables =
        ask(on, with_prefix("SELECT count(*) FROM sqlite_schema WHERE type = 'table' "
                            "AND lower(name) = lower('semel_meta')",
                            prefix));
    if (!tables || *tables == 0) return tables;
    const auto version =
        ask(on, with_prefix("SELECT value FROM semel_meta WHERE name = 'schema_version'", prefix));
    if (!version) return version;
    if (*version > static_cast<std::int64_t>(migrations().size())) return newer(*version);
    return version;
}

result<void> check_schema(connection& on, std::string_view prefix) {
    const auto version = schema_version(on, prefix);
    if (!version) return version.error();
    if (*version == static_cast<std::int64_t>(migrations().size())) return {};
    return missing(*version, prefix);
}

result<void> migrate(connection& on, std::string_view prefix) {
    if (auto begun = on.begin(access::write); !begun) return begun;
    auto done = bring_up_to_date(on, prefix);
    if (done) done = on.commit();
    if (!done) on.rollback();
    return done;
}

} // namespace semel::sqlite
