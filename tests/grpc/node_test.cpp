// A client in another language: node with @grpc/grpc-js, installed from npm into the build folder.
#include <cstdio>
#include <filesystem>
#include <sys/wait.h>

#include <gmock/gmock.h>

#include "served.hpp"

namespace semel::grpc_test {
namespace {

struct command_end {
    int code = -1;
    std::string out;
};

// Both outputs.
command_end run_command(const std::string& line) {
    command_end made;
    FILE* const from = ::popen((line + " 2>&1").c_str(), "r");
    if (from == nullptr) return made;
    char text[4'096];
    while (std::fgets(text, sizeof text, from) != nullptr) made.out += text;
    const int status = ::pclose(from);
    made.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return made;
}

constexpr const char* source_folder = SEMEL_SOURCE_DIR "/tests/grpc";
constexpr const char* install_folder = SEMEL_BINARY_DIR "/tests/grpc/node";

// Once per build folder and version of package.json.
command_end install_packages() {
    namespace fs = std::filesystem;
    const fs::path folder{install_folder};
    const fs::path wanted = fs::path{source_folder} / "node" / "package.json";
    const std::string same = "cmp -s '" + wanted.string() + "' '" +
                             (folder / "package.json").string() + "' && test -d '" +
                             (folder / "node_modules/@grpc/grpc-js").string() + "'";
    if (run_command(same).code == 0) return {.code = 0, .out = {}};
    fs::remove_all(folder);
    fs::create_directories(folder);
    auto installed = run_command("cp '" + wanted.string() + "' '" + folder.string() + "' && cd '" +
                                 folder.string() +
                                 "' && npm install --no-audit --no-fund --no-package-lock "
                                 "--ignore-scripts");
    if (installed.code != 0) fs::remove_all(folder);
    return installed;
}

class GrpcNode : public testing::TestWithParam<form> {};
INSTANTIATE_TEST_SUITE_P(Both, GrpcNode, testing::Values(form::service, form::front), form_name);

TEST_P(GrpcNode, SeesReplayMismatchAndDetails) {
    const auto installed = install_packages();
    ASSERT_EQ(installed.code, 0)
        << "npm could not install @grpc/grpc-js; this test needs node, npm "
           "and its registry:\n"
        << installed.out;
    served at{GetParam(), {}};

    const auto node = run_command("NODE_PATH='" + std::string{install_folder} +
                                  "/node_modules' node '" + source_folder + "/node/client.cjs' " +
                                  at.address() + " '" + source_folder + "/payments.proto'");

    ASSERT_EQ(node.code, 0) << node.out;
    const auto line = [](const char* seen, const std::string& details) {
        return std::string{"{"} + seen + R"(,"details":{)" + details + "}}\n";
    };
    const auto info = [](const std::string& reason) {
        return R"("ErrorInfo":{"reason":")" + reason + R"(","domain":"semel"})";
    };
    EXPECT_EQ(node.out, line(R"("code":0,"id":"charge-1","replayed":false)", "") +
                            line(R"("code":0,"id":"charge-1","replayed":true)", "") +
                            line(R"("code":9,"id":"","replayed":false)", info("MISMATCH")) +
                            line(R"("code":3,"id":"","replayed":false)", info("KEY_MISSING")));
    EXPECT_EQ(at.runs(), 1);
}

} // namespace
} // namespace semel::grpc_test
