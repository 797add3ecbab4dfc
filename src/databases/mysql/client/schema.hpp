// The tables and their versions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "databases/mysql/client/connection.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/store.hpp"

namespace semel::mysql {

// One file of sql/mysql, in order: the n-th makes version n.
struct migration {
    std::string_view name;
    std::string_view text;
};

[[nodiscard]] std::span<const migration> migrations();

// SQL is written with the prefix `semel_`; this puts the configured one in its place.
[[nodiscard]] std::string with_prefix(std::string_view sql, std::string_view prefix);

// Checks a prefix: lower-case letters, digits and underscores, not starting with a digit, at most
// 32.
[[nodiscard]] bool valid_prefix(std::string_view prefix);

// The version of the tables, 0 if there are none. Writes nothing.
[[nodiscard]] result<std::int64_t> schema_version(connection& on, std::string_view prefix,
                                                  local_time deadline);

// schema_missing and schema_newer, unless the version is just the one this semel knows.
[[nodiscard]] result<void> check_version(std::int64_t found, std::string_view prefix);

// Brings the tables up to date, or only returns the SQL for that. Several processes may do so at
// the same time.
[[nodiscard]] result<migration_report> migrate(connection& on, std::string_view prefix,
                                               migrate_mode mode, local_time deadline);

} // namespace semel::mysql
