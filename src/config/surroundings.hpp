// What a configuration may refer to outside its file: variables and files.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "semel/base/result.hpp"

namespace semel::config {

struct surroundings {
    std::map<std::string, std::string> variables = {};
    std::function<result<std::string>(const std::string& path)> read_file = {};
    // Of the configuration file; its relative paths begin here. Empty: the working directory.
    std::string folder = {};
};

// The real ones, as they are at this moment.
[[nodiscard]] surroundings this_process();

// A text that is never shown: what was written in the file, and what it stands for.
struct secret {
    std::string written = {}; // "file:/path", "env:NAME", or the text itself where that is allowed
    std::string text = {};
};

// "file:key.pem" beside the configuration file: "file:conf/key.pem".
[[nodiscard]] std::string in_folder(std::string_view reference, const surroundings& around);

[[nodiscard]] bool is_reference(std::string_view written);

// The contents of a file without the line end behind it, or of a variable. The detail of a failure
// names the file or variable, never what it holds.
[[nodiscard]] result<std::string> look_up(std::string_view reference, const surroundings& around);

} // namespace semel::config
