#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "cli/tool.hpp"

namespace semel::test {
namespace {

class CheckConfigCommand : public testing::Test {
protected:
    CheckConfigCommand() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~CheckConfigCommand() override { std::filesystem::remove_all(folder_); }

    [[nodiscard]] std::string file(std::string_view text) const {
        const std::string path = folder_ + "/semel.toml";
        std::ofstream{path} << text;
        return path;
    }

    std::string folder_;
};

TEST_F(CheckConfigCommand, PrintsWhatIsInEffectWithoutSecrets) {
    const tool_run run = run_tool({"check-config", file(R"([store]
url = "postgres://semel:hunter2@db/orders"
[tenants]
source = "single"
name = "acme"
[gateway]
upstream = "http://127.0.0.1:3000"
)")});

    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(run.out.find("url = \"postgres://semel:***@db/orders\""), std::string::npos);
    EXPECT_NE(run.out.find("listen = \"127.0.0.1:7070\""), std::string::npos);
    EXPECT_EQ(run.out.find("hunter2"), std::string::npos);
}

TEST_F(CheckConfigCommand, WhatItPrintsMeansTheSameInAnotherFolder) {
    const std::string path = file(R"([store]
url = "sqlite:mine.db"
[tenants]
source = "single"
name = "a"
[gateway]
upstream = "http://127.0.0.1:1"
)");
    const auto from_here = [](const std::string& one) {
        return std::filesystem::proximate(one).string();
    };
    const tool_run once = run_tool({"check-config", from_here(path)});
    const std::string again = folder_ + "/sub/full.toml";
    std::filesystem::create_directory(folder_ + "/sub");
    std::ofstream{again} << once.out;

    const tool_run twice = run_tool({"check-config", from_here(again)});

    EXPECT_EQ(twice.exit_code, 0) << twice.err;
    EXPECT_EQ(twice.out, once.out);
    EXPECT_NE(
        once.out.find("\"sqlite:" + std::filesystem::canonical(folder_).string() + "/mine.db\""),
        std::string::npos)
        << once.out;
}

TEST_F(CheckConfigCommand, ReportsEverythingThatIsWrong) {
    const std::string path = file("[server]\nlisetn = 1\ndrain = 2\n"
                                  "[tenants]\nsource = \"single\"\nname = \"a\"\n"
                                  "[gateway]\nupstream = \"http://127.0.0.1:1\"\n");

    const tool_run run = run_tool({"check-config", path});

    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err,
              "semel: " + path +
                  ":2: server.lisetn: unknown key; did you mean 'listen'?\nsemel: " + path +
                  ":3: server.drain: must be a duration such as \"500ms\", \"30s\", "
                  "\"1h30m\" or \"7d\"\n");
}

TEST_F(CheckConfigCommand, SaysWhichRoutesGiveTheirAnswersToAll) {
    const std::string all = "[tenants]\nsource = \"single\"\nname = \"acme\"\n"
                            "[gateway]\nupstream = \"http://127.0.0.1:1\"\n";
    const std::string routes = "[[route]]\noperation = \"ORDER\"\npath = \"/orders\"\n"
                               "[[route]]\noperation = \"PAY\"\nprincipal = \"shared\"\n";

    const tool_run plain = run_tool({"check-config", file(all)});
    const tool_run two = run_tool({"check-config", file(all + routes)});
    const tool_run derived =
        run_tool({"check-config", file(all + "[[route]]\noperation = \"A\"\nkey = \"derived\"\n")});

    EXPECT_EQ(plain.exit_code, 0);
    EXPECT_NE(plain.err.find("no principal is named for http:"), std::string::npos) << plain.err;
    EXPECT_NE(two.err.find("no principal is named for ORDER:"), std::string::npos) << two.err;
    EXPECT_EQ(derived.exit_code, 2);
    EXPECT_NE(derived.err.find("semel.toml:6: route: "), std::string::npos) << derived.err;
    EXPECT_NE(derived.err.find("keys are derived"), std::string::npos) << derived.err;
}

TEST_F(CheckConfigCommand, AFileThatIsNotThereIsWrongUsage) {
    expect_refused(run_tool({"check-config", folder_ + "/none.toml"}));
    expect_refused(run_tool({"check-config", folder_}));
}

// Nothing is started by what is wrong.
TEST_F(CheckConfigCommand, ServeRefusesWhatTheCheckRefuses) {
    const std::string wrong = file("[server]\nlisetn = 1\n[log]\nlevel = 3\n");
    const tool_run run = run_tool({"serve", "--config", wrong});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.err, run_tool({"check-config", wrong}).err);

    const std::string all = "[tenants]\nsource = \"single\"\nname = \"acme\"\n"
                            "[gateway]\nupstream = \"http://127.0.0.1:1\"\n"
                            "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"\"\n";
    expect_refused(run_tool({"serve", "--config", folder_ + "/none.toml"}));
    expect_refused(run_tool({"serve", "--config", file(all + "[store]\nurl = \"oracle:x\"\n")}));
    const tool_run tokens =
        run_tool({"serve", "--config",
                  file(all + "[center]\nenabled = true\n[store]\nurl = \"memory:\"\n")});
    EXPECT_EQ(tokens.exit_code, 2);
    EXPECT_NE(tokens.err.find("tenants.tokens: must name a file"), std::string::npos);
}

} // namespace
} // namespace semel::test
