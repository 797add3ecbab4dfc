// PostgreSQL's error codes as failures of semel: one table.
#pragma once

#include <string>

#include "semel/base/result.hpp"

namespace semel::postgres {

// What code of this driver branches on; a `failure` has only a text of it.
struct native_failure {
    std::string state = {};      // SQLSTATE, five characters; empty where libpq itself failed
    std::string message = {};    // the server's or libpq's own words
    std::string constraint = {}; // the one that was violated
    // The error belongs to a statement of the application, so semel gives no advice about it.
    bool of_work = false;
    // The error belongs to the last statement of a pipeline, such as COMMIT. A check that was
    // deferred until then (a constraint trigger) belongs to the application.
    bool of_last = false;
};

// What is left of the transaction.
enum class ending {
    rolled_back, // the server said so, or nothing was sent
    unknown,     // the connection went away after the commit may have begun
};

[[nodiscard]] failure failure_of(const native_failure& error, ending how);

} // namespace semel::postgres
