// Runs the built semel tool as a user does: arguments, standard input, exit code and both outputs.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

namespace semel::test {

struct tool_run {
    int exit_code;
    std::string out;
    std::string err;
};

[[nodiscard]] tool_run run_tool(std::initializer_list<std::string_view> arguments,
                                std::string_view standard_input = {});

// Bad input: exit code 2, nothing on standard output, exactly one line on standard error.
void expect_refused(const tool_run& run);

} // namespace semel::test
