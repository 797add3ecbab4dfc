// `semel config init`: a beginning that works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "cli/tool.hpp"

namespace semel::test::config_init_cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ConfigInit : public testing::Test {
protected:
    ConfigInit() {
        std::string name = (fs::temp_directory_path() / "semel-init-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~ConfigInit() override { fs::remove_all(folder_); }

    [[nodiscard]] std::string file() const { return folder_ + "/semel.toml"; }
    [[nodiscard]] std::string text() const {
        std::ifstream in{file()};
        return {std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
    }
    [[nodiscard]] std::string uncommented() const {
        std::string made;
        std::ifstream in{file()};
        for (std::string line; std::getline(in, line);) {
            const bool is_prose = !line.starts_with("# ") || line.find(" = ") == std::string::npos;
            const bool is_table = line.starts_with("# [");
            made += (is_prose && !is_table ? line : line.substr(2)) + "\n";
        }
        return made;
    }

    std::string folder_;
};

TEST_F(ConfigInit, MakesAFileThatServeTakes) {
    const tool_run made = run_tool({"config", "init", file()});

    EXPECT_EQ(made.exit_code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("semel serve --config " + file()));
    const tool_run checked = run_tool({"check-config", file()});
    EXPECT_EQ(checked.exit_code, 0);
    EXPECT_EQ(checked.err, "");
    EXPECT_THAT(checked.out, HasSubstr("operation = \"ORDER_CREATE\""));
    EXPECT_EQ(run_tool({"config", "init", "-"}).out, text());
}

// What stands in comments is right, too.
TEST_F(ConfigInit, EveryExampleInACommentIsTaken) {
    ASSERT_EQ(run_tool({"config", "init", file()}).exit_code, 0);
    std::string whole = uncommented();
    const std::string twice = "url = \"env:DATABASE_URL\"";
    ASSERT_NE(whole.find(twice), std::string::npos);
    whole.erase(whole.find(twice), twice.size()); // the store is named above it
    std::ofstream{file()} << whole;
    ASSERT_EQ(
        run_tool({"token", "new", "--tenant", "a", "--tokens", folder_ + "/tokens.txt"}).exit_code,
        0);

    const tool_run checked = run_tool({"check-config", file()});

    EXPECT_EQ(checked.exit_code, 0) << checked.err << whole;
    for (const char* part : {"[[operation]]", "[[relay]]", "enabled = true"}) {
        EXPECT_THAT(checked.out, HasSubstr(part));
    }
}

TEST_F(ConfigInit, LeavesAFileThatIsThere) {
    std::ofstream{file()} << "mine";

    expect_refused(run_tool({"config", "init", file()}));
    EXPECT_EQ(text(), "mine");
    EXPECT_EQ(run_tool({"config", "init", folder_ + "/none/semel.toml"}).exit_code, 1);
}

} // namespace
} // namespace semel::test::config_init_cli
