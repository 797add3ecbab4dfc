#include "cli/tool.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace semel::test {
namespace {

namespace fs = std::filesystem;

class temporary_folder {
public:
    temporary_folder() {
        std::string name = (fs::temp_directory_path() / "semel-cli-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        path_ = name;
    }
    ~temporary_folder() {
        std::error_code ignored; // a leftover in the temporary folder fails no test
        fs::remove_all(path_, ignored);
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    [[nodiscard]] fs::path file(std::string_view name) const { return path_ / name; }

private:
    fs::path path_;
};

std::string shell_quoted(std::string_view argument) {
    std::string text = "'";
    for (const char c : argument) {
        if (c == '\'') {
            text += "'\\''";
        } else {
            text += c;
        }
    }
    return text + "'";
}

std::string contents(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// `before` runs the tool, and `binary` is it.
tool_run run(const std::string& before, const std::string& binary,
             const std::vector<std::string>& words, std::string_view standard_input) {
    const temporary_folder folder;
    std::ofstream(folder.file("in"), std::ios::binary) << standard_input;
    std::string command = before + shell_quoted(binary);
    for (const std::string& word : words) command += " " + shell_quoted(word);
    command += " <" + shell_quoted(folder.file("in").string());
    command += " >" + shell_quoted(folder.file("out").string());
    command += " 2>" + shell_quoted(folder.file("err").string());

    const int status = std::system(command.c_str());

    return {.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1,
            .out = contents(folder.file("out")),
            .err = contents(folder.file("err"))};
}

constexpr const char* tool = SEMEL_BINARY_DIR "/semel";

} // namespace

tool_run run_tool(std::initializer_list<std::string_view> arguments,
                  std::string_view standard_input) {
    return run("", tool, {arguments.begin(), arguments.end()}, standard_input);
}

tool_run run_words(const std::vector<std::string>& words) {
    return run("", tool, words, {});
}

// The build folder may be closed to that user, so the shell opens the tool for it.
tool_run run_as_another(const std::vector<std::string>& words) {
    if (::geteuid() != 0) return run_words(words);
    const std::string become = "setpriv --reuid=65534 --regid=65534 --clear-groups -- ";
    return run("exec 9<" + shell_quoted(tool) + "; " + become, "/proc/self/fd/9", words, {});
}

void expect_refused(const tool_run& run) {
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
    EXPECT_TRUE(run.err.starts_with("semel: ")) << run.err;
}

} // namespace semel::test
