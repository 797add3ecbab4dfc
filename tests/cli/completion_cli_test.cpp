#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tool.hpp"

namespace semel::test {
namespace {

using testing::HasSubstr;
using testing::Not;

// What bash offers behind these words, by the script itself.
int bash_offers(const std::string& words, const std::string& expected) {
    const std::string script = "eval \"$('" SEMEL_BINARY_DIR "/semel' completion bash)\"\n"
                               "COMP_WORDS=(" +
                               words +
                               ")\n"
                               "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                               "_semel\n"
                               "[[ \" ${COMPREPLY[*]} \" == *' " +
                               expected + " '* ]]\n";
    std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
    const std::filesystem::path folder = ::mkdtemp(name.data());
    std::ofstream{folder / "try.sh"} << script;
    const int status = std::system(("bash '" + (folder / "try.sh").string() + "'").c_str());
    std::filesystem::remove_all(folder);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(CompletionCommand, BashFollowsTheWordsToTheirCommand) {
    EXPECT_EQ(bash_offers("semel ''", "serve"), 0);
    EXPECT_EQ(bash_offers("semel to", "token"), 0);
    EXPECT_EQ(bash_offers("semel token ''", "revoke"), 0);
    EXPECT_EQ(bash_offers("semel token new --t", "--tenant"), 0);
    EXPECT_EQ(bash_offers("semel serve --", "--config"), 0);
    EXPECT_NE(bash_offers("semel serve --", "--tenant"), 0);
    EXPECT_NE(bash_offers("semel ''", "revoke"), 0);
}

TEST(CompletionCommand, BashKnowsTheValuesOfOptions) {
    EXPECT_EQ(bash_offers("semel records list --state ''", "lapsed"), 0);
    EXPECT_EQ(bash_offers("semel records list --state su", "succeeded"), 0);
    EXPECT_NE(bash_offers("semel records list --state su", "lapsed"), 0);
    EXPECT_NE(bash_offers("semel records list --state ''", "--json"), 0);
    EXPECT_EQ(bash_offers("semel gateway --profile ''", "stripe-v2"), 0);
    EXPECT_EQ(bash_offers("semel relay --mode ''", "ordered"), 0);
    EXPECT_EQ(bash_offers("semel records list --state lapsed --", "--json"), 0);
    EXPECT_NE(bash_offers("semel serve --config ''", "--demo"), 0) << "but files";
    EXPECT_EQ(bash_offers("semel demo --json --", "--dir"), 0) << "a flag has no value";
}

TEST(CompletionCommand, OtherShellsKnowTheValuesOfOptions) {
    EXPECT_THAT(run_tool({"completion", "zsh"}).out,
                HasSubstr("'semel records list --state') compadd -- processing lapsed"));
    EXPECT_THAT(run_tool({"completion", "fish"}).out,
                HasSubstr("-l state -x -a 'processing lapsed in-doubt succeeded failed'"));
}

// Every command that the tool's help names is completed in every shell.
TEST(CompletionCommand, KnowsEveryCommandTheToolHas) {
    const tool_run help = run_tool({"--help"});
    for (const char* shell : {"bash", "zsh", "fish"}) {
        const tool_run script = run_tool({"completion", shell});
        ASSERT_EQ(script.exit_code, 0) << script.err;
        for (const char* command : {"check-config", "completion", "demo", "fingerprint", "gateway",
                                    "id", "migrate", "serve", "token"}) {
            EXPECT_THAT(help.out, HasSubstr(command));
            EXPECT_THAT(script.out, HasSubstr(command)) << shell;
        }
        EXPECT_THAT(script.out, HasSubstr("semel token revoke")) << shell;
    }
}

TEST(CompletionCommand, OtherShellsAreWrongUsage) {
    expect_refused(run_tool({"completion"}));
    expect_refused(run_tool({"completion", "tcsh"}));
}

TEST(Help, IsEverywhere) {
    for (const std::initializer_list<std::string_view> words :
         {std::initializer_list<std::string_view>{"--help"},
          {"serve", "--help"},
          {"gateway", "--help"},
          {"check-config", "--help"},
          {"token", "--help"},
          {"token", "new", "--help"},
          {"token", "list", "--help"},
          {"token", "revoke", "--help"},
          {"completion", "--help"},
          {"migrate", "--help"},
          {"id", "new", "--help"}}) {
        const tool_run run = run_tool(words);
        EXPECT_EQ(run.exit_code, 0);
        EXPECT_THAT(run.out, HasSubstr("Usage: semel"));
    }
}

} // namespace
} // namespace semel::test
