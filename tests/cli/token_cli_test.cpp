#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdlib.h>

#include <gtest/gtest.h>

#include "cli/tool.hpp"

namespace semel::test {
namespace {

class TokenCommand : public testing::Test {
protected:
    TokenCommand() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~TokenCommand() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string file() const { return folder_ + "/tokens.txt"; }
    [[nodiscard]] std::string text() const {
        std::ifstream in(file());
        return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    }

    std::string folder_;
};

TEST_F(TokenCommand, ATokenIsShownOnceAndKeptAsItsHash) {
    const tool_run made = run_tool({"token", "new", "--tenant", "acme", "--scope", "use,admin",
                                    "--comment", "the shop", "--tokens", file()});

    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_TRUE(made.out.starts_with("semel_")) << made.out;
    EXPECT_EQ(text().find(made.out.substr(0, 20)), std::string::npos);
    const tool_run listed = run_tool({"token", "list", "--tokens", file()});
    EXPECT_NE(listed.out.find("  acme  use,admin  "), std::string::npos) << listed.out;
    EXPECT_NE(listed.out.find("  the shop\n"), std::string::npos) << listed.out;
    EXPECT_NE(made.err.find(listed.out.substr(0, 12)), std::string::npos);
}

TEST_F(TokenCommand, ARevokedTokenIsGone) {
    ASSERT_EQ(run_tool({"token", "new", "--tenant", "a", "--tokens", file()}).exit_code, 0);
    ASSERT_EQ(run_tool({"token", "new", "--tenant", "b", "--tokens", file()}).exit_code, 0);
    const std::string id = text().substr(0, 12);

    EXPECT_EQ(run_tool({"token", "revoke", id, "--tokens", file()}).exit_code, 0);

    const tool_run listed = run_tool({"token", "list", "--tokens", file()});
    EXPECT_EQ(listed.out.find(id), std::string::npos);
    EXPECT_NE(listed.out.find("  b  use,read  "), std::string::npos) << listed.out;
    expect_refused(run_tool({"token", "revoke", id, "--tokens", file()}));
}

TEST_F(TokenCommand, RefusesBadInput) {
    expect_refused(run_tool({"token"}));
    expect_refused(run_tool({"token", "new", "--tokens", file()}));
    expect_refused(run_tool({"token", "new", "--tenant", "a b", "--tokens", file()}));
    const tool_run reserved = run_tool({"token", "new", "--tenant", "semel", "--tokens", file()});
    expect_refused(reserved);
    EXPECT_NE(reserved.err.find("is reserved"), std::string::npos);
    expect_refused(run_tool({"token", "new", "--tenant", "a", "--scope", "x", "--tokens", file()}));
    expect_refused(
        run_tool({"token", "new", "--tenant", "a", "--comment", "x\ny", "--tokens", file()}));
    expect_refused(run_tool({"token", "revoke", "a", "--tokens", file()}));
    EXPECT_FALSE(std::filesystem::exists(file()));
    EXPECT_EQ(run_tool({"token", "list", "--tokens", file()}).exit_code, 1);
}

} // namespace
} // namespace semel::test
