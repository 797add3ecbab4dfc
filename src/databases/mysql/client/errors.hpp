// The servers' error numbers as failures of semel: one table.
#pragma once

#include <string_view>

#include "semel/base/result.hpp"

namespace semel::mysql {

struct native_error {
    unsigned number = 0;           // the server's (1000 …) or the client library's (2000 …)
    std::string_view message = {}; // their own words
};

// What is left of the transaction.
enum class ending {
    rolled_back, // the server said so, or nothing was sent
    unknown,     // the connection went away after the commit may have begun
};

[[nodiscard]] failure failure_of(const native_error& error, ending how);

// An error of a statement that writes, so that it came before any commit, or of a COMMIT that has
// rolled back. Any other error may also have come after everything was done.
[[nodiscard]] bool undoes(unsigned number);

// The numbers that code branches on.
namespace number {
inline constexpr unsigned duplicate_key = 1062;
inline constexpr unsigned syntax = 1064;
inline constexpr unsigned no_such_table = 1146;
inline constexpr unsigned commit_failed = 1180;
inline constexpr unsigned unknown_variable = 1193;
inline constexpr unsigned lock_timeout = 1205; // only the statement is rolled back: ROLLBACK
inline constexpr unsigned deadlock = 1213;
inline constexpr unsigned forgotten = 1243; // a prepared statement
inline constexpr unsigned read_only = 1290;
inline constexpr unsigned no_savepoint = 1305;
inline constexpr unsigned statement_timeout = 1969;
inline constexpr unsigned idle = 4031; // MySQL has ended a connection that was idle too long
inline constexpr unsigned gone = 2006;
inline constexpr unsigned lost = 2013;
} // namespace number

} // namespace semel::mysql
