// PostgreSQL's error codes as failures of semel: one table.
#pragma once

#include <string_view>

#include "semel/result.hpp"

namespace semel::postgres {

struct native_error {
    std::string_view state = {};   // SQLSTATE, five characters; empty where libpq itself failed
    std::string_view message = {}; // the server's or libpq's own words
};

// What is left of the transaction.
enum class ending {
    rolled_back, // the server said so, or nothing was sent
    unknown,     // the connection went away after the commit may have begun
};

[[nodiscard]] failure failure_of(const native_error& error, ending how);

// The same, where the statement was not one of ours: what to do about it is not for us to say.
[[nodiscard]] failure without_advice(failure why);

} // namespace semel::postgres
