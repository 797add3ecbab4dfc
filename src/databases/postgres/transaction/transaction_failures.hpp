// What went wrong in a transaction on the caller's connection, in semel's words. Pure.
#pragma once

#include <string>
#include <string_view>

#include "databases/postgres/client/errors.hpp"
#include "semel/base/result.hpp"
#include "sql/held_keys.hpp"

namespace semel::postgres {

inline constexpr sql::refusals says{"postgres"};
[[nodiscard]] failure refused(errc code, std::string detail);
[[nodiscard]] failure broken(std::string detail);

// errc::unsupported unless a look-up in it sees what others have committed.
[[nodiscard]] result<void> check_isolation(std::string_view level);

// DISCARD ALL and DEALLOCATE take our statements with them.
[[nodiscard]] bool has_forgotten(const native_failure& why);

// A prepared statement of semel is for tables that the session does not see any more: its
// search_path has changed, or the tables were created again.
[[nodiscard]] bool knows_other_tables(const native_failure& why);

// For a pipeline with a write of ours that failed: whose statement it was decides what it means.
[[nodiscard]] failure explained(failure why, const native_failure& error,
                                const std::string& table_prefix);

} // namespace semel::postgres
