// How SQLite is asked to open a file.
#pragma once

#include <string>

#include "semel/base/result.hpp"
#include "semel/store.hpp"

namespace semel::sqlite {

struct file_request {
    std::string name; // a path or a URI, as the flags say
    int flags = 0;    // of sqlite3_open_v2
};

// Makes the file if it is missing and the mode is `create`.
//
// With `read_only`, a file that this process may write is opened for writing all the same: SQLite
// makes a log and its index in order to read, and removes both only if it may write. What stayed
// behind would belong to the user who looked, and the service could not write it. A file that this
// process may not write is opened so that SQLite makes no log.
//
// Errors: schema_missing (there is no file, and it may not be made), read_only (there is a log with
// records but no index, and this process may not make one).
[[nodiscard]] result<file_request> request_for(const std::string& path, open_mode mode);

} // namespace semel::sqlite
