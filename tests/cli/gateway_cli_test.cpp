// `semel gateway` as a process: what it prints, how it refuses, how it ends.
#include <gtest/gtest.h>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "cli/tool.hpp"
#include "http/support/client.hpp"
#include "http/support/gateway_process.hpp"
#include "http/support/upstream.hpp"

namespace semel::test::gateway_cli {
namespace {

using process = edge::support::gateway_process;
using edge::support::gate_flag;
using edge::support::post;
using edge::support::seen_request;

std::vector<std::string> in_front_of(const edge::support::upstream& behind,
                                     std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "--listen",   "127.0.0.1:0",
        "--upstream", "http://127.0.0.1:" + std::to_string(behind.port()),
        "--store",    "memory:",
        "--threads",  "1"};
    if (more.empty()) more = {"--single-tenant"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

TEST(GatewayCommand, ExecutesOnceAndReplays) {
    edge::support::upstream behind;
    process gateway{in_front_of(behind)};
    ASSERT_NE(gateway.port(), 0) << gateway.said();

    EXPECT_EQ(post(gateway.port(), {.key = "k"}).body, "order 1");
    EXPECT_TRUE(post(gateway.port(), {.key = "k"}).replayed());
    EXPECT_EQ(post(gateway.port(), {.key = "k", .body = "[]"}).problem(), "422 mismatch");
    EXPECT_EQ(post(gateway.port()).body, "order 2"); // no key: passes

    gateway.signal(SIGTERM);
    EXPECT_EQ(gateway.wait(), 0);
    EXPECT_NE(gateway.said().find("drained"), std::string::npos);
}

TEST(GatewayCommand, DrainsOnSigint) {
    edge::support::upstream behind;
    gate_flag go;
    behind.now_does([&](const seen_request&, edge::support::socket& to) {
        go.wait();
        to.write(edge::support::response_text(201, "finished"));
    });
    process gateway{in_front_of(behind)};
    edge::support::client busy{gateway.port()};
    busy.send(edge::support::post_text({.key = "k"}));
    ASSERT_TRUE(edge::support::eventually([&] { return behind.requests() == 1; }));

    gateway.signal(SIGINT);
    go.open();

    EXPECT_EQ(busy.receive().body, "finished");
    EXPECT_EQ(gateway.wait(), 0);
}

bool refuses(std::uint16_t port) {
    const int one = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_port = htons(port);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int got = ::connect(one, reinterpret_cast<const sockaddr*>(&at), sizeof at);
    ::close(one);
    return got != 0;
}

// A process that is reloaded while it drains still drains.
TEST(GatewayCommand, SighupDoesNotEndADrain) {
    edge::support::upstream behind;
    gate_flag go;
    behind.now_does([&](const seen_request&, edge::support::socket& to) {
        go.wait();
        to.write(edge::support::response_text(201, "finished"));
    });
    process gateway{in_front_of(behind)};
    edge::support::client busy{gateway.port()};
    busy.send(edge::support::post_text({.key = "k"}));
    ASSERT_TRUE(edge::support::eventually([&] { return behind.requests() == 1; }));

    gateway.signal(SIGTERM);
    ASSERT_TRUE(edge::support::eventually([&] { return refuses(gateway.port()); }));
    gateway.signal(SIGHUP);
    go.open();

    EXPECT_EQ(busy.receive().body, "finished");
    EXPECT_EQ(gateway.wait(), 0);
}

TEST(GatewayCommand, ReadsItsTokensAgainOnSighup) {
    const std::string file = (std::filesystem::temp_directory_path() /
                              ("semel-tokens-" + std::to_string(getpid()) + ".txt"))
                                 .string();
    const auto new_token = [&] {
        const tool_run made = run_tool({"token", "new", "--tenant", "acme", "--tokens", file});
        return made.out.substr(0, made.out.find('\n'));
    };
    edge::support::upstream behind;
    const std::string first = new_token();
    process gateway{in_front_of(behind, {"--tenant-tokens", file, "--token-header", "X-Token"})};
    const auto status_of = [&](const std::string& token) {
        return post(gateway.port(), {.key = "k", .headers = "X-Token: " + token + "\r\n"}).status;
    };
    EXPECT_EQ(status_of(first), 201);
    const std::string second = new_token();

    gateway.signal(SIGHUP);

    EXPECT_TRUE(edge::support::eventually([&] { return status_of(second) == 201; }));
    std::filesystem::remove(file);
    gateway.signal(SIGHUP); // nothing to read: those before stay
    gateway.signal(SIGHUP);
    EXPECT_EQ(status_of(first), 201);
    gateway.signal(SIGTERM);
    EXPECT_EQ(gateway.wait(), 0);
}

TEST(GatewayCommand, KeepsAnswersInSqliteAcrossAKill) {
    const auto file = std::filesystem::temp_directory_path() /
                      ("semel-gateway-" + std::to_string(getpid()) + ".db");
    edge::support::upstream behind;
    const auto arguments = [&] {
        auto all = in_front_of(behind);
        all[5] = "sqlite:" + file.string();
        return all;
    };
    {
        process first{arguments()};
        EXPECT_EQ(post(first.port(), {.key = "k"}).body, "order 1");
        first.signal(SIGKILL);
        EXPECT_EQ(first.wait(), -1);
    }
    process second{arguments()};
    const auto again = post(second.port(), {.key = "k"});
    EXPECT_EQ(again.body, "order 1");
    EXPECT_TRUE(again.replayed());
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + end);
}

TEST(GatewayCommand, RouteOptionsAreUsed) {
    edge::support::upstream behind;
    process gateway{
        in_front_of(behind, {"--single-tenant", "acme", "--route", "PAY=PUT:/pay/**",
                             "--require-key", "--strict-key", "--forward-key", "none"})};
    EXPECT_EQ(post(gateway.port(), {.key = "k"}).status, 201); // another route
    EXPECT_EQ(post(gateway.port(), {.target = "/pay/1", .method = "PUT"}).problem(),
              "400 key-missing");
    EXPECT_EQ(post(gateway.port(), {.key = "k", .target = "/pay/1", .method = "PUT"}).problem(),
              "400 key-malformed");
    EXPECT_EQ(post(gateway.port(), {.key = "\"k\"", .target = "/pay/1", .method = "PUT"}).status,
              201);
    EXPECT_FALSE(behind.seen().back().head.headers.contains("Idempotency-Key"));
}

TEST(GatewayCommand, RefusesWhatIsWrongBeforeAnyEffect) {
    const std::string up = "http://127.0.0.1:1";
    const auto refused = [](std::initializer_list<std::string_view> arguments) {
        const tool_run run = run_tool(arguments);
        expect_refused(run);
        return run.err;
    };
    EXPECT_NE(refused({"gateway", "--store", "memory:", "--single-tenant"}).find("--upstream"),
              std::string::npos);
    EXPECT_NE(refused({"gateway", "--upstream", up, "--single-tenant"}).find("--store"),
              std::string::npos);
    EXPECT_NE(refused({"gateway", "--upstream", up, "--store", "memory:"}).find("tenants"),
              std::string::npos);
    const auto with = [&](std::string_view option, std::string_view value) {
        return refused({"gateway", "--upstream", up, "--store", "memory:", "--single-tenant",
                        "main", option, value});
    };
    for (const auto& [option, value] :
         std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"--listen", "nowhere"},
             {"--lease", "soon"},
             {"--lease", "0s"},
             {"--retention", "5"},
             {"--profile", "all"},
             {"--on-lease-expiry", "guess"},
             {"--route", "orders"},
             {"--trust", "10.0.0.0/99"},
             {"--tls-cert", "only.pem"},
             {"--client-ca", "ca.pem"},
             {"--forward-key", "maybe"},
             {"--probe", "/outcome"}}) {
        EXPECT_FALSE(with(option, value).empty()) << option;
    }
    EXPECT_NE(refused({"gateway", "--upstream", "ftp://a", "--store", "memory:", "--single-tenant"})
                  .find("--upstream"),
              std::string::npos);
    expect_refused(run_tool({"gateway", "--upstream", up, "--store", "none:", "--single-tenant"}));
    expect_refused(run_tool(
        {"gateway", "--upstream", up, "--store", "memory:", "--tenant-header", "X-Tenant"}));
}

// Two processes agree on whose answer it is.
TEST(GatewayCommand, AnswersOfAPrincipalAreForItAlone) {
    const auto file = std::filesystem::temp_directory_path() /
                      ("semel-principal-" + std::to_string(getpid()) + ".db");
    edge::support::upstream behind;
    auto arguments = in_front_of(behind, {"--single-tenant", "--derive-key", "--principal",
                                          "Authorization", "--principal-secret", "env:WHO"});
    arguments[5] = "sqlite:" + file.string();
    ::setenv("WHO", "a secret of the fleet", 1);
    {
        process first{arguments};
        process second{arguments};
        const auto as = [](const char* who) {
            return std::string{"Authorization: "} + who + "\r\n";
        };
        EXPECT_EQ(post(first.port(), {.headers = as("alice")}).body, "order 1");

        EXPECT_TRUE(post(second.port(), {.headers = as("alice")}).replayed());
        EXPECT_EQ(post(second.port(), {.headers = as("mallory")}).body, "order 2");
        EXPECT_EQ(post(second.port()).problem(), "401 principal-missing");
        EXPECT_EQ(post(second.port(), {.key = "k"}).problem(), "401 principal-missing");
    }
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + end);
}

TEST(GatewayCommand, SaysWhoseAnswersItGives) {
    const edge::support::upstream behind; // its port is taken, so that the tool ends in any case
    const std::string taken = "127.0.0.1:" + std::to_string(behind.port());
    const auto said = [&](const std::vector<std::string>& more) {
        std::vector<std::string> all = {"gateway", "--upstream", "http://127.0.0.1:1",
                                        "--store", "memory:",    "--single-tenant",
                                        "main",    "--listen",   taken};
        all.insert(all.end(), more.begin(), more.end());
        return run_words(all).err;
    };
    ::setenv("SHORT", "few bytes", 1);
    const auto npos = std::string::npos;

    EXPECT_NE(said({"--derive-key"}).find("keys are derived"), npos);
    EXPECT_NE(said({"--principal", "X-User"}).find("openssl rand -hex 32 > principal.key"), npos);
    EXPECT_NE(said({"--principal", "X-User", "--principal-secret", "plain text, many bytes"})
                  .find("must be env:NAME"),
              npos);
    EXPECT_NE(said({"--principal", "X-User", "--principal-secret", "env:SHORT"}).find("16 bytes"),
              npos);
    EXPECT_NE(said({}).find("warning: all clients are one tenant"), npos);
    EXPECT_EQ(said({"--principal", "shared"}).find("warning"), npos);
}

TEST(GatewayCommand, HelpNamesEveryGroup) {
    const tool_run run = run_tool({"gateway", "--help"});
    EXPECT_EQ(run.exit_code, 0);
    for (const char* text : {"--listen", "--upstream", "--store", "--single-tenant", "--route",
                             "--tls-cert", "SIGTERM"}) {
        EXPECT_NE(run.out.find(text), std::string::npos) << text;
    }
}

} // namespace
} // namespace semel::test::gateway_cli
