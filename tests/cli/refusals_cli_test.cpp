// `semel check-config` and `semel serve` refuse the same, in the same words and before any effect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cli/tool.hpp"

namespace semel::test::refusals_cli {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* sound = "[server]\nlisten = \"127.0.0.1:0\"\nadmin_listen = \"\"\n"
                              "[tenants]\nsource = \"single\"\nname = \"acme\"\n"
                              "[gateway]\nupstream = \"http://127.0.0.1:1\"\n";

class Refusals : public testing::Test {
protected:
    Refusals() {
        std::string name = (fs::temp_directory_path() / "semel-refusals-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~Refusals() override { fs::remove_all(folder_); }

    void write(const std::string& name, const std::string& text) const {
        std::ofstream{folder_ + "/" + name} << text;
    }
    [[nodiscard]] std::string config() const { return folder_ + "/semel.toml"; }

    // What both say, without the name of the file.
    [[nodiscard]] std::string refused(const std::string& text) const {
        write("semel.toml", text);
        const tool_run checked = run_tool({"check-config", config()});
        const tool_run served = run_tool({"serve", "--config", config()});
        EXPECT_EQ(checked.exit_code, 2) << text << checked.out;
        EXPECT_EQ(served.exit_code, 2) << text;
        EXPECT_EQ(checked.out, "");
        EXPECT_EQ(checked.err, served.err);
        EXPECT_TRUE(checked.err.starts_with("semel: " + config() + ":")) << checked.err;
        EXPECT_FALSE(fs::exists(folder_ + "/semel.db"));
        return checked.err;
    }

    std::string folder_;
};

TEST_F(Refusals, StoresThatCannotBeMeant) {
    const auto store = [&](const std::string& keys) {
        return refused(std::string{sound} + "[store]\n" + keys); // keys begin in line 10
    };
    EXPECT_THAT(store("url = \"sqlit:mine.db\"\n"),
                AllOf(HasSubstr("semel.toml:10: store.url: no store answers"),
                      HasSubstr("did you mean 'sqlite:'?")));
    for (const char* url :
         {"sqlite:", "sqlite:a.db?lane=2", "sqlite:a.db?prefix=1a", "memory:x", "redis://h:0/0",
          "redis://h/0?lanes=99", "mysql://h", "mysql://h/d?tls=maybe", "postgres://h/d?lanes=0",
          "postgres://h/d?nonsense=1", "tiered:?front=redis://h", "rediss://h/0?ca_file=none.pem",
          "tiered:?front=mysql://h/d&truth=memory:", "mysql://h/d?ca_file=none.pem"}) {
        EXPECT_THAT(store("url = \"" + std::string{url} + "\"\n"),
                    HasSubstr("semel.toml:10: store.url: "))
            << url;
    }
    EXPECT_THAT(store("url = \"memory:\"\nfront = \"memory:\"\n"),
                HasSubstr("semel.toml:11: store.front: the front of a tiered store must be redis"));
    EXPECT_THAT(store("url = \"env:SEMEL_NO_SUCH\"\n"), HasSubstr("is not set"));
    EXPECT_THAT(store("table_prefix = \"a-b\"\n"), HasSubstr("semel.toml:10: store.url: sqlite: "));
}

TEST_F(Refusals, KeysAndFilesThatCannotBeUsed) {
    const std::string digits(64, 'a');
    write("key", digits);
    write("not-a-key", "short");
    write("junk.pem", "junk");
    write("tokens.txt", "nonsense\n");
    const auto in_store = [&](const std::string& keys) {
        return refused(std::string{sound} + "[store]\n" + keys);
    };
    EXPECT_THAT(in_store("encryption_keys = [\"k file:none\"]\n"),
                AllOf(HasSubstr(":10: store.encryption_keys: "), HasSubstr("/none: No such file")));
    EXPECT_THAT(in_store("encryption_keys = [\"k file:not-a-key\"]\n"), HasSubstr("64 hex digits"));
    EXPECT_THAT(in_store("encryption_keys = [\"k file:key\", \"k file:key\"]\n"),
                HasSubstr(":10: store.encryption_keys: "));
    EXPECT_THAT(refused(std::string{sound} + "[log]\nkey_secret = \"file:none\"\n"),
                HasSubstr(":10: log.key_secret: "));
    const std::string bare = std::string{sound}.substr(std::string{sound}.find("[tenants]"));
    EXPECT_THAT(
        refused("[server]\ntls_certificate = \"none.pem\"\ntls_key = \"junk.pem\"\n" + bare),
        AllOf(HasSubstr(":2: server.tls_certificate: "), HasSubstr("/none.pem")));
    EXPECT_THAT(
        refused("[server]\ntls_certificate = \"junk.pem\"\ntls_key = \"junk.pem\"\n" + bare),
        HasSubstr(":2: server.tls_certificate: "));
    EXPECT_THAT(refused(std::string{sound} + "tls_ca = \"none.pem\"\n"),
                HasSubstr(":9: gateway.tls_ca: "));
    const std::string by_token = "[gateway]\nupstream = \"http://127.0.0.1:1\"\n"
                                 "[tenants]\nsource = \"tokens\"\ntokens = ";
    EXPECT_THAT(refused(by_token + "\"none.txt\"\n"),
                AllOf(HasSubstr(":5: tenants.tokens: "), HasSubstr("/none.txt: No such file")));
    EXPECT_THAT(refused(by_token + "\"tokens.txt\"\n"),
                AllOf(HasSubstr(":5: tenants.tokens: "), HasSubstr("tokens.txt:1: must begin")));
    write("tokens.txt", "");
    fs::permissions(folder_ + "/tokens.txt", fs::perms{0666});
    EXPECT_THAT(refused(by_token + "\"tokens.txt\"\n"), HasSubstr("may write to it"));
}

TEST_F(Refusals, RelaysThatWouldNotStart) {
    const auto relay = [&](const std::string& keys) {
        return refused(std::string{sound} + "[[relay]]\nsink = \"stdout:\"\n" + keys);
    };
    EXPECT_THAT(relay("attempts_max = 3\n"),
                HasSubstr("semel.toml:11: relay.attempts_max: must be above 3"));
    EXPECT_THAT(relay("retry_first = \"1h\"\n"), HasSubstr(":11: relay.retry_last: "));
    EXPECT_THAT(relay("poll = \"1us\"\n"), HasSubstr(":11: relay.poll: "));
    EXPECT_THAT(relay("lease = \"1ms\"\n"), HasSubstr(":11: relay.lease: "));
    EXPECT_THAT(relay("store = \"redis://h/0\"\n"), HasSubstr(":11: relay.store: 'redis:' stores"));
    const auto sink = [&](const std::string& url) {
        return refused(std::string{sound} + "[[relay]]\nsink = \"" + url + "\"\n");
    };
    for (const char* url : {"ftp://h", "file:", "file:a?sync=maybe", "redis://h/0?strem=x",
                            "nats://h?window=0", "http://h#secret_file=none", "http://h#key=x"}) {
        EXPECT_THAT(sink(url), HasSubstr("semel.toml:10: relay.sink: ")) << url;
    }
    EXPECT_FALSE(fs::exists(folder_ + "/a"));
}

TEST_F(Refusals, AddressesAndRoutesThatMeet) {
    const std::string rest = "[tenants]\nsource = \"single\"\nname = \"a\"\n"
                             "[gateway]\nupstream = \"http://127.0.0.1:1\"\n";
    EXPECT_THAT(
        refused("[server]\nlisten = \"127.0.0.1:7999\"\nadmin_listen = \"0.0.0.0:7999\"\n" + rest),
        HasSubstr(":3: server.admin_listen: is the address of server.listen, too"));
    EXPECT_THAT(refused("[server]\nthreads = 5000\nhead_bytes_max = 9\n" + rest),
                AllOf(HasSubstr(":2: server.threads: "), HasSubstr(":3: server.head_bytes_max: ")));
    const std::string route = "[[route]]\noperation = \"A\"\npath = \"/a\"\n";
    EXPECT_THAT(refused(std::string{sound} + route + route),
                HasSubstr(":13: route.operation: 'A' is another route's too"));
    EXPECT_THAT(
        refused(std::string{sound} + route + "on_lease_expiry = \"probe\"\nprobe = \"/a b\"\n"),
        HasSubstr(":13: route.probe: "));
}

// One run, however many mistakes of whatever kind.
TEST_F(Refusals, TypesAndMeaningsComeTogether) {
    const std::string said = refused("[server]\n"
                                     "listen = \"nowhere\"\n"
                                     "drain = 2\n"
                                     "[store]\n"
                                     "url = \"sqlit:x\"\n"
                                     "cache_bytes = \"many\"\n"
                                     "[tenants]\n"
                                     "source = \"tokens\"\n"
                                     "tokens = \"none.txt\"\n"
                                     "[gateway]\n"
                                     "upstream = \"ftp://x\"\n"
                                     "[[route]]\n"
                                     "operation = \"A\"\n"
                                     "path = \"no slash\"\n"
                                     "laese = \"3s\"\n"
                                     "[[relay]]\n"
                                     "sink = \"stdot:\"\n"
                                     "attempts_max = 2\n");

    for (const char* one :
         {":2: server.listen: ", ":3: server.drain: ", ":5: store.url: ", ":6: store.cache_bytes: ",
          ":9: tenants.tokens: ", ":11: gateway.upstream: ", ":14: route: ", ":15: route.laese: ",
          ":17: relay.sink: ", ":18: relay.attempts_max: "}) {
        EXPECT_THAT(said, HasSubstr(one));
    }
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 10) << said;
}

// What is wrong with a value is not said again as what its default would mean.
TEST_F(Refusals, WhatCouldNotBeReadIsNotJudged) {
    const std::string said = refused("[tenants]\n"
                                     "sorce = \"single\"\n"
                                     "name = \"a\"\n"
                                     "[gateway]\n"
                                     "upstraem = \"http://127.0.0.1:1\"\n");
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 2) << said;
    EXPECT_THAT(refused("[gatway]\nupstream = \"http://127.0.0.1:1\"\n"),
                testing::Not(HasSubstr("nothing would be served")));
}

TEST_F(Refusals, ALowerLimitIsNoMistake) {
    write("semel.toml", std::string{sound} + "[limits]\nresult_bytes_max = \"4KiB\"\n"
                                             "[[route]]\noperation = \"A\"\n");
    const tool_run checked = run_tool({"check-config", config()});

    EXPECT_EQ(checked.exit_code, 0) << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("operation = \"A\""));
    EXPECT_THAT(checked.out.substr(checked.out.find("[[route]]")),
                HasSubstr("result_bytes_max = \"4KiB\""));
}

TEST_F(Refusals, ServeWithoutAFileSaysHowToMakeOne) {
    const tool_run run = run_tool({"serve", "--config", config()});

    expect_refused(run);
    EXPECT_THAT(run.err, AllOf(HasSubstr("semel config init"), HasSubstr("semel serve --demo")));
}

} // namespace
} // namespace semel::test::refusals_cli
