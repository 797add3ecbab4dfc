// Relative paths that begin at a folder which is not the process's own. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace semel::net {

// "tokens.txt" in "conf" is "conf/tokens.txt". An absolute path stays as it is, and so does
// everything where `folder` is empty: that is the working directory.
[[nodiscard]] std::string path_in_folder(std::string_view path, std::string_view folder);

// The same for each path in the URL of a store, an outbox or a sink: files of SQLite, file sinks,
// and the certificates, keys and secrets that parameters name.
[[nodiscard]] std::string url_in_folder(std::string_view url, std::string_view folder);

} // namespace semel::net
