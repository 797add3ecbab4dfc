// Runs the built semel tool as a user does: arguments, standard input, exit code and both outputs.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace semel::test {

struct tool_run {
    int exit_code;
    std::string out;
    std::string err;
};

[[nodiscard]] tool_run run_tool(std::initializer_list<std::string_view> arguments,
                                std::string_view standard_input = {});

// The same for words that are put together, as a user who may not write what root may.
[[nodiscard]] tool_run run_words(const std::vector<std::string>& words);
[[nodiscard]] tool_run run_as_another(const std::vector<std::string>& words);

// Bad input: exit code 2, nothing on standard output, exactly one line on standard error.
void expect_refused(const tool_run& run);

} // namespace semel::test
