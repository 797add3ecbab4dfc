// The tables and their versions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "databases/sqlite/client/connection.hpp"
#include "semel/base/result.hpp"

namespace semel::sqlite {

// One file of sql/sqlite, in order: the n-th makes version n.
struct migration {
    std::string_view name;
    std::string_view text;
};

[[nodiscard]] std::span<const migration> migrations();

// SQL is written with the prefix `semel_`; this puts the configured one in its place.
[[nodiscard]] std::string with_prefix(std::string_view sql, std::string_view prefix);

// Letters, digits and underscores, not starting with a digit, at most 32.
[[nodiscard]] bool valid_prefix(std::string_view prefix);

// The version of the tables in the file, 0 if there are none. errc::schema_newer if they were made
// by a newer semel. Writes nothing.
[[nodiscard]] result<std::int64_t> schema_version(connection& on, std::string_view prefix);

// schema_missing and schema_newer, unless the tables are just those this semel knows.
[[nodiscard]] result<void> check_schema(connection& on, std::string_view prefix);

// Brings the tables up to date. Safe against others that do the same at the same time.
[[nodiscard]] result<void> migrate(connection& on, std::string_view prefix);

} // namespace semel::sqlite
