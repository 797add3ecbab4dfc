// SQLite's result codes as failures of semel: one table.
#pragma once

#include <string_view>

#include "semel/base/result.hpp"

namespace semel::sqlite {

struct native_error {
    int code = 0;                  // SQLite's extended result code
    int system = 0;                // errno behind it, where there is one
    std::string_view message = {}; // SQLite's own words
};

// When it went wrong. A commit that fails with an I/O error may still be found in the log after a
// crash; everything before the commit is undone by the rollback.
enum class during { open, statement, commit };

[[nodiscard]] failure failure_of(const native_error& error, during when);

} // namespace semel::sqlite
