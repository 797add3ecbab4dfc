// Words on the command line that the tool does not know, and what was meant.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace semel::app {

[[nodiscard]] std::vector<const CLI::App*> commands_of(const CLI::App& of);

// Throws usage_error where a word in the place of a command is none, or a command is missing.
// Before parsing: CLI11 would name all other words as well, the last one first.
void check_command_words(const CLI::App& tool, const std::vector<std::string>& words);

// What to say about the first word that was left over when the tool was parsed.
[[nodiscard]] std::string unexpected_word(const CLI::App& tool);

} // namespace semel::app
