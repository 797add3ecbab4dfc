// From a file and the environment to a configuration, or to everything that is wrong with it.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/config.hpp"
#include "config/surroundings.hpp"

namespace semel::config {

// One line each: "semel.toml:3: server.lisen: unknown key; did you mean 'listen'?".
using complaints = std::vector<std::string>;

// `name` is what messages call the file. SEMEL_<SECTION>_<KEY> in upper case goes before the file;
// a variable that begins like a section's and names no key is wrong too.
[[nodiscard]] std::variant<config, complaints> load(std::string_view text, const std::string& name,
                                                    const surroundings& around);

// The same for those who have more to say about it.
struct reading {
    config made = {}; // what could not be read has its default; see config::where
    complaints found = {};
    bool is_whole = true; // false: the file is no TOML, and nothing of it is in `made`
};
[[nodiscard]] reading read(std::string_view text, const std::string& name,
                           const surroundings& around);

// What can only be judged as a whole. `load` has done it. Nothing is said about keys whose values
// could not be read.
[[nodiscard]] complaints check(const config& of);

// The effective configuration as TOML that can be loaded again. Passwords in URLs are left out,
// secrets are shown as the reference they were written as.
[[nodiscard]] std::string show(config of);

// The reference of every key: Markdown, one table per section.
[[nodiscard]] std::string reference();

} // namespace semel::config
