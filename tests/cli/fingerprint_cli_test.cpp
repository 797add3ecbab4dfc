#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "cli/tool.hpp"

namespace semel::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view sha256_of_abc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n";

TEST(Tool, PrintsHelpWithoutArguments) {
    const tool_run run = run_tool({});

    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out.find("Usage: semel"), std::string::npos);
    EXPECT_EQ(run.out, run_tool({"--help"}).out);
}

TEST(Tool, PrintsItsVersion) {
    const tool_run run = run_tool({"--version"});

    EXPECT_EQ(run.exit_code, 0);
    EXPECT_TRUE(run.out.starts_with("semel ")) << run.out;
}

TEST(Tool, HasHelpForEverySubcommand) {
    for (const std::string_view command : {"canonical", "fingerprint", "id"}) {
        const tool_run run = run_tool({command, "--help"});

        EXPECT_EQ(run.exit_code, 0) << command;
        EXPECT_NE(run.out.find("Usage: semel " + std::string{command}), std::string::npos);
    }
}

TEST(Tool, RefusesUnknownArguments) {
    expect_refused(run_tool({"frobnicate"}));
    expect_refused(run_tool({"--frobnicate"}));
    expect_refused(run_tool({"canonical", "extra"}, "{}"));
}

TEST(CanonicalCommand, PrintsTheFormAndNothingElse) {
    const tool_run run = run_tool({"canonical"}, "{ \"b\": 1e2, \"a\": 9007199254740993 }\n");

    EXPECT_EQ(run.exit_code, 0);
    EXPECT_EQ(run.out, R"({"a":9007199254740993,"b":100})");
    EXPECT_EQ(run.err, "");
}

TEST(CanonicalCommand, HonoursSelectionAndNumbers) {
    EXPECT_EQ(run_tool({"canonical", "--select", "/a", "--select", "/b", "--ignore", "/a/t"},
                       R"({"a":{"t":1,"v":2},"b":3,"c":4})")
                  .out,
              R"({"a":{"v":2},"b":3})");
    EXPECT_EQ(run_tool({"canonical", "--numbers", "rfc8785"}, "9007199254740993").out,
              "9007199254740992");
}

TEST(CanonicalCommand, RefusesBadInputWithItsOffset) {
    const tool_run run = run_tool({"canonical"}, "[1, 1e400]");

    expect_refused(run);
    EXPECT_NE(run.err.find("at byte offset 4: "), std::string::npos) << run.err;
    for (const std::string_view text :
         {"", "{", R"({"a":1,"a":2})", "\xEF\xBB\xBF{}", "\"\xFF\""}) {
        expect_refused(run_tool({"canonical"}, text));
    }
}

TEST(CanonicalCommand, RefusesBadOptions) {
    expect_refused(run_tool({"canonical", "--select", "a"}, "{}"));
    expect_refused(run_tool({"canonical", "--numbers", "some"}, "{}"));
    expect_refused(run_tool({"canonical", "--select"}, "{}"));
}

TEST(CanonicalCommand, GivesThePublishedVectors) {
    const fs::path folder = fs::path{SEMEL_SHARED_DIR} / "vectors" / "jcs";
    if (!fs::exists(folder)) GTEST_SKIP() << "no vectors at " << folder;
    const auto read = [](const fs::path& path) {
        std::ifstream in(path, std::ios::binary);
        return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    };

    for (const auto& entry : fs::directory_iterator(folder / "input")) {
        EXPECT_EQ(run_tool({"canonical"}, read(entry.path())).out,
                  read(folder / "output" / entry.path().filename()))
            << entry.path();
    }
}

TEST(FingerprintCommand, HashesTheCanonicalForm) {
    const tool_run json = run_tool({"fingerprint", "--json"}, R"({ "b": 1, "a": 2 })");

    EXPECT_EQ(json.exit_code, 0);
    EXPECT_EQ(json.out, run_tool({"fingerprint", "--raw"}, R"({"a":2,"b":1})").out);
    EXPECT_EQ(json.out,
              run_tool({"fingerprint", "--json", "--ignore", "/c"}, R"({"c":3,"a":2,"b":1})").out);
}

TEST(FingerprintCommand, HashesBytesAndForms) {
    EXPECT_EQ(run_tool({"fingerprint", "--raw"}, "abc").out, sha256_of_abc);
    EXPECT_EQ(run_tool({"fingerprint", "--form"}, "b=2&a=%31").out,
              run_tool({"fingerprint", "--raw"}, "a=1&b=2").out);
}

TEST(FingerprintCommand, UsesTheSecretOfAFile) {
    const fs::path file = fs::path{SEMEL_BINARY_DIR} / "cli-test-secret.txt";
    std::ofstream(file) << "Jefe\n";

    // RFC 4231, test case 2.
    EXPECT_EQ(run_tool({"fingerprint", "--raw", "--secret-file", file.string()},
                       "what do ya want for nothing?")
                  .out,
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843\n");
    std::ofstream(file, std::ios::trunc) << "\n";
    expect_refused(run_tool({"fingerprint", "--raw", "--secret-file", file.string()}, "x"));
    fs::remove(file);
}

TEST(FingerprintCommand, RefusesBadInputAndOptions) {
    expect_refused(run_tool({"fingerprint", "--json"}, "{broken"));
    expect_refused(run_tool({"fingerprint"}, "{}"));
    expect_refused(run_tool({"fingerprint", "--json", "--raw"}, "{}"));
    expect_refused(run_tool({"fingerprint", "--raw", "--select", "/a"}, "{}"));
    expect_refused(run_tool({"fingerprint", "--raw", "--secret-file", "/"}, "{}"));
    expect_refused(run_tool({"fingerprint", "--raw", "--secret-file", "/does/not/exist"}, "{}"));
}

} // namespace
} // namespace semel::test
