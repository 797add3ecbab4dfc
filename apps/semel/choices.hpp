// Options that take one of a few words.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace semel::app {

// The words are in the option's help, shells complete them, and others are refused.
CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& words);

// Those of such an option; none, if it takes anything.
[[nodiscard]] std::vector<std::string> words_of(const CLI::Option& option);

} // namespace semel::app
