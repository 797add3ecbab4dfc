// The SQLSTATE of the last error on a connection that others use too: libpq itself keeps only the
// text, in the language of the server.
#pragma once

#include <string_view>

struct pg_conn; // PGconn

namespace semel::postgres {

// From now on; again is harmless.
void watch_errors(pg_conn* connection);

// Empty if there was none since. Valid until the next statement.
[[nodiscard]] std::string_view last_error(const pg_conn* connection);

} // namespace semel::postgres
