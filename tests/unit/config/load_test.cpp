#include "config/load.hpp"

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semel::config::load_test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using testing::ElementsAre;
using testing::HasSubstr;

surroundings nothing_around() {
    return {.read_file = [](const std::string& path) -> result<std::string> {
        return failure{.code = errc::invalid_argument, .detail = path + ": not there"};
    }};
}

constexpr const char* smallest = R"([tenants]
source = "single"
name = "acme"
[gateway]
upstream = "http://127.0.0.1:3000"
)";

config good(std::string_view text, const surroundings& around = nothing_around()) {
    auto got = load(text, "semel.toml", around);
    if (const auto* wrong = std::get_if<complaints>(&got)) {
        ADD_FAILURE() << testing::PrintToString(*wrong);
        return {};
    }
    return std::get<config>(std::move(got));
}

complaints wrong(std::string_view text, const surroundings& around = nothing_around()) {
    auto got = load(text, "semel.toml", around);
    return got.index() == 1 ? std::get<complaints>(got) : complaints{};
}

// With what has to be there, so that only the text is at fault.
complaints wrong_beside_sound(std::string_view text) {
    return wrong(std::string{text} + smallest);
}

TEST(ConfigLoad, TheSmallestFileHasDefaultsForEverythingElse) {
    const config got = good(smallest);

    EXPECT_EQ(got.server.listen, "127.0.0.1:7070");
    EXPECT_EQ(got.store.url.text, "sqlite:semel.db");
    EXPECT_EQ(got.tenants.source, tenant_kind::single);
    EXPECT_FALSE(got.center.enabled);
    EXPECT_TRUE(got.routes.empty());
}

TEST(ConfigLoad, ReadsEveryKindOfValue) {
    const config got = good(std::string{smallest} + R"(
[server]
listen = "[::1]:8080"
hosts = ["a.example", "b.example"]
connections_max = 5
head_bytes_max = "16KiB"
drain = "1m30s"
[center]
enabled = false
body_bytes_max = 4096
[log]
level = "debug"
format = "json"
[[route]]
operation = "ORDER_CREATE"
path = "/orders"
key = "required"
profile = "stripe-v1"
statuses = ["404 keep", "500-503 unknown"]
fingerprint_ignore = ["/sent_at"]
lease = "45s"
wait = "0s"
on_lease_expiry = "probe"
probe = "/probe"
[[operation]]
name = "PAY"
retention = "3d"
)");

    EXPECT_EQ(got.server.listen, "[::1]:8080");
    EXPECT_THAT(got.server.options.heads.hosts, ElementsAre("a.example", "b.example"));
    EXPECT_EQ(got.server.options.connections_max, 5U);
    EXPECT_EQ(got.server.options.heads.limits.head_bytes_max, 16U << 10U);
    EXPECT_EQ(got.server.drain, 90s);
    EXPECT_EQ(got.center.options.body_bytes_max, 4096U);
    EXPECT_EQ(got.log.options.level, log_level::debug);
    ASSERT_EQ(got.routes.size(), 1U);
    const http::route& route = got.routes[0].route;
    EXPECT_EQ(route.need, http::key_need::required);
    EXPECT_EQ(route.responses, http::profile::stripe_v1);
    EXPECT_THAT(route.statuses,
                ElementsAre(http::status_rule{404, 404, http::disposition::keep},
                            http::status_rule{500, 503, http::disposition::unknown}));
    EXPECT_EQ(route.content.json.ignore().size(), 1U);
    EXPECT_EQ(route.policy.lease, 45s);
    EXPECT_EQ(route.policy.wait, wait_mode::answer);
    EXPECT_EQ(got.routes[0].probe, "/probe");
    ASSERT_EQ(got.operations.size(), 1U);
    EXPECT_EQ(got.operations[0].policy.retention, 72h);
}

TEST(ConfigLoad, UnknownKeysNameTheLineAndTheNearestKey) {
    EXPECT_THAT(
        wrong_beside_sound("[server]\n\nlisten_addr = 1\nlisten = \"127.0.0.1:1\"\nlisetn = 2\n"),
        ElementsAre("semel.toml:3: server.listen_addr: unknown key",
                    "semel.toml:5: server.lisetn: unknown key; did you mean 'listen'?"));
    EXPECT_THAT(wrong_beside_sound("[sever]\n"),
                ElementsAre("semel.toml:1: sever: unknown section; "
                            "did you mean 'server'?"));
    EXPECT_THAT(wrong_beside_sound("[[route]]\noperation = \"A\"\nlaese = \"3s\"\n"),
                ElementsAre("semel.toml:3: route.laese: unknown key; did you mean 'lease'?"));
    EXPECT_THAT(wrong_beside_sound("x = 1\n"), ElementsAre("semel.toml:1: x: unknown section"));
}

TEST(ConfigLoad, WrongTypesAndValuesSayWhatIsAllowed) {
    const complaints got = wrong(R"([server]
listen = 7070
connections_max = "many"
threads = -1
drain = "soon"
head_bytes_max = 1.5
hosts = ["a", 1]
idle_timeout = "0s"
[log]
level = "loud"
[center]
enabled = "yes"
[store]
cache_bytes = true
)");

    EXPECT_THAT(
        got,
        ElementsAre(
            "semel.toml:2: server.listen: must be a text, not an integer",
            "semel.toml:3: server.connections_max: must be a whole number, not a text",
            "semel.toml:4: server.threads: must be a number from 0 to 2147483647",
            "semel.toml:5: server.drain: must be a duration such as \"500ms\", \"30s\", \"1h30m\" "
            "or "
            "\"7d\"",
            "semel.toml:6: server.head_bytes_max: must be a size such as 4096, \"64KiB\", \"8MiB\" "
            "or "
            "\"1GiB\"",
            "semel.toml:7: server.hosts: must be a list of texts; one is an integer",
            "semel.toml:8: server.idle_timeout: must be more than zero",
            R"(semel.toml:10: log.level: must be one of "debug", "info", "warning", "error")",
            "semel.toml:12: center.enabled: must be true or false, not a text",
            "semel.toml:14: store.cache_bytes: must be a size such as 4096, \"64KiB\", \"8MiB\" or "
            "\"1GiB\""));
}

TEST(ConfigLoad, TablesAndListsAreNotMixedUp) {
    EXPECT_THAT(wrong_beside_sound("server = 1\n"),
                ElementsAre("semel.toml:1: server: must be a table: [server]"));
    EXPECT_THAT(wrong_beside_sound("[route]\n"),
                ElementsAre("semel.toml:1: route: must be written as "
                            "[[route]]"));
}

TEST(ConfigLoad, ASyntaxErrorNamesItsLine) {
    const complaints got = wrong("[server]\nlisten = \n");

    ASSERT_EQ(got.size(), 1U);
    EXPECT_THAT(got[0], HasSubstr("semel.toml:2: "));
}

TEST(ConfigLoad, WhatContradictsItselfIsAllReported) {
    const complaints got = wrong(R"([server]
listen = "nowhere"
tls_key = "key.pem"
[tenants]
source = "header"
[gateway]
upstream = "ftp://x"
[center]
enabled = true
[[route]]
operation = "A"
[[route]]
operation = "A"
path = "no slash"
on_lease_expiry = "probe"
)");

    EXPECT_THAT(got,
                ElementsAre(HasSubstr("semel.toml:3: server.tls_certificate: and server.tls_key"),
                            HasSubstr("semel.toml:2: server.listen: must be address:port"),
                            HasSubstr("semel.toml:5: tenants.trusted: must name at least one"),
                            HasSubstr("semel.toml:9: tenants.tokens: must name a file"),
                            HasSubstr("semel.toml:14: route: route 'A' (no slash)"),
                            HasSubstr("semel.toml:13: route.operation: 'A' is another route's"),
                            HasSubstr("semel.toml:15: route.probe: and on_lease_expiry"),
                            HasSubstr("semel.toml:7: gateway.upstream: must be http://host")));
}

TEST(ConfigLoad, WhatAVariableSaysIsItsFault) {
    surroundings around = nothing_around();
    around.variables = {{"SEMEL_SERVER_LISTEN", "nowhere"}};

    EXPECT_THAT(wrong(smallest, around),
                ElementsAre("SEMEL_SERVER_LISTEN: server.listen: must be address:port"));
}

TEST(ConfigLoad, WhatCouldNotBeReadIsNotJudged) {
    EXPECT_THAT(wrong("[tenants]\nsource = 1\n[gateway]\nupstream = \"http://h:1\"\n"),
                ElementsAre(HasSubstr("semel.toml:2: tenants.source: must be one of")));
    EXPECT_THAT(wrong(std::string{smallest} + "[[route]]\noperaton = \"A\"\n"),
                ElementsAre(HasSubstr("did you mean 'operation'?")));
    EXPECT_THAT(wrong("[center]\nenabled = 1\n"), ElementsAre(HasSubstr("center.enabled")));
}

// A certificate of that authority is trusted as an address is.
TEST(ConfigLoad, ATenantsHeaderMayBeBelievedByCertificate) {
    const std::string text = R"([tenants]
source = "header"
[gateway]
upstream = "http://127.0.0.1:3000"
[server]
tls_certificate = "c.pem"
tls_key = "k.pem"
)";

    EXPECT_THAT(wrong(text), ElementsAre(HasSubstr("tenants.trusted")));
    EXPECT_EQ(good(text + "tls_client_ca = \"ca.pem\"\n").tenants.source, tenant_kind::header);
}

TEST(ConfigLoad, RelativePathsBeginAtTheFolderOfTheFile) {
    surroundings around = nothing_around();
    around.folder = "conf";
    around.variables = {{"SEMEL_STORE_FRONT", "rediss://h/0?ca_file=ca.pem"},
                        {"HOOK", "https://h/x#secret_file=s"}};
    std::vector<std::string> read;
    around.read_file = [&](const std::string& path) {
        read.push_back(path);
        return std::string{path.ends_with("url") ? "sqlite:inner.db" : std::string(64, '1')};
    };

    const config got = good(R"([server]
tls_certificate = "tls/cert.pem"
tls_key = "/etc/key.pem"
[store]
url = "file:url"
encryption_keys = ["k file:keys/k"]
[tenants]
source = "tokens"
tokens = "tokens.txt"
[gateway]
upstream = "https://h:1"
tls_ca = "ca.pem"
[[relay]]
store = "sqlite:mine.db"
sink = "file:events.jsonl"
[[relay]]
sink = "env:HOOK"
)",
                            around);

    EXPECT_EQ(got.server.tls.certificate_file, "conf/tls/cert.pem");
    EXPECT_EQ(got.server.tls.key_file, "/etc/key.pem");
    EXPECT_EQ(got.store.url.written, "file:conf/url");
    EXPECT_EQ(got.store.url.text, "sqlite:conf/inner.db");
    EXPECT_EQ(got.store.front.text, "rediss://h/0?ca_file=conf/ca.pem");
    EXPECT_THAT(got.store.keys, ElementsAre("k file:conf/keys/k"));
    EXPECT_THAT(read, ElementsAre("conf/url", "conf/keys/k"));
    EXPECT_EQ(got.tenants.tokens, "conf/tokens.txt");
    EXPECT_EQ(got.gateway.options.ca_file, "conf/ca.pem");
    EXPECT_EQ(got.relays[0].store.text, "sqlite:conf/mine.db");
    EXPECT_EQ(got.relays[0].sink.text, "file:conf/events.jsonl");
    EXPECT_EQ(got.relays[1].sink.text, "https://h/x#secret_file=conf/s");
    EXPECT_EQ(good(smallest, around).store.url.text, "sqlite:conf/semel.db");
}

TEST(ConfigLoad, R23_AGatewayWithoutATenantSourceIsRefused) {
    EXPECT_THAT(wrong("[gateway]\nupstream = \"http://127.0.0.1:1\"\n"),
                ElementsAre(HasSubstr("tenants.source: must be")));
}

TEST(ConfigLoad, VariablesGoBeforeTheFile) {
    surroundings around = nothing_around();
    around.variables = {{"SEMEL_SERVER_LISTEN", "0.0.0.0:80"},
                        {"SEMEL_SERVER_CONNECTIONS_MAX", "7"},
                        {"SEMEL_SERVER_HOSTS", "a.example, b.example"},
                        {"SEMEL_STORE_CACHE_BYTES", "1MiB"},
                        {"SEMEL_CENTER_ENABLED", "true"},
                        {"SEMEL_TENANTS_TOKENS", "tokens.txt"},
                        {"SEMEL_SERVERS_DIR", "somebody else's"}};

    const config got = good(smallest, around);

    EXPECT_EQ(got.server.listen, "0.0.0.0:80");
    EXPECT_EQ(got.server.options.connections_max, 7U);
    EXPECT_THAT(got.server.options.heads.hosts, ElementsAre("a.example", "b.example"));
    EXPECT_EQ(got.store.cache.bytes_max, std::size_t{1} << 20);
    EXPECT_TRUE(got.center.enabled);
}

TEST(ConfigLoad, VariablesAreCheckedLikeTheFile) {
    surroundings around = nothing_around();
    around.variables = {{"SEMEL_SERVER_LISTNE", "x"}, {"SEMEL_SERVER_DRAIN", "x"}};

    EXPECT_THAT(wrong(smallest, around),
                ElementsAre(HasSubstr("SEMEL_SERVER_DRAIN: must be a duration"),
                            "SEMEL_SERVER_LISTNE: no such key; did you mean "
                            "'SEMEL_SERVER_LISTEN'?"));
}

TEST(ConfigLoad, SecretsComeFromFilesAndVariables) {
    surroundings around = nothing_around();
    around.variables = {{"DATABASE_URL", "postgres://u:hidden@db/orders"},
                        {"KEY_OLD", std::string(64, 'a')}};
    around.read_file = [](const std::string&) { return std::string(64, '1') + "\n"; };

    const config got = good(std::string{smallest} + R"([store]
url = "env:DATABASE_URL"
encryption_keys = ["new file:/run/key", "old env:KEY_OLD"]
)",
                            around);

    EXPECT_EQ(got.store.url.text, "postgres://u:hidden@db/orders");
    ASSERT_EQ(got.store.encryption.keys.size(), 2U);
    EXPECT_EQ(got.store.encryption.keys[0].id, "new");
    EXPECT_EQ(got.store.encryption.keys[0].secret, std::string(32, '\x11'));
    EXPECT_EQ(got.store.encryption.keys[1].secret, std::string(32, '\xAA'));
}

TEST(ConfigLoad, ASecretThatCannotBeReadIsNamedAndNotShown) {
    surroundings around = nothing_around();
    around.variables = {{"SHORT", "not-a-key"}};
    const auto with_keys = [](const std::string& list) {
        return std::string{smallest} + "[store]\nencryption_keys = [" + list + "]\n";
    };

    EXPECT_THAT(wrong(std::string{smallest} + "[store]\nurl = \"env:NO_SUCH\"\n", around),
                ElementsAre("semel.toml:7: store.url: the environment variable NO_SUCH is not "
                            "set"));
    EXPECT_THAT(wrong(with_keys("\"k file:/no/such\""), around),
                ElementsAre(HasSubstr("/no/such: not there")));
    const complaints literal = wrong(with_keys("\"k 0123456789abcdef\""), around);
    EXPECT_THAT(literal, ElementsAre(HasSubstr("must be \"ID file:/path\"")));
    EXPECT_EQ(literal[0].find("0123456789abcdef"), std::string::npos);
    const complaints bad = wrong(with_keys("\"k env:SHORT\""), around);
    EXPECT_THAT(bad, ElementsAre(HasSubstr("64 hex digits")));
    EXPECT_EQ(bad[0].find("not-a-key"), std::string::npos);
}

TEST(ConfigLoad, TheTenantMustBeOneThatClientsMayBe) {
    const auto named = [](const std::string& name) {
        return "[tenants]\nsource = \"single\"\nname = \"" + name +
               "\"\n[gateway]\nupstream = \"http://127.0.0.1:3000\"\n";
    };

    EXPECT_THAT(wrong(named("semel")), ElementsAre(HasSubstr("is reserved")));
    EXPECT_THAT(wrong(named("a b")), ElementsAre(HasSubstr("visible ASCII")));
    EXPECT_THAT(wrong(std::string{smallest} + "vital_headers = [\"X User\"]\n"),
                ElementsAre(HasSubstr("no header name")));
    EXPECT_THAT(wrong("[tenants]\ntoken_header = \"\"\n" +
                      std::string{smallest}.substr(std::string_view{"[tenants]\n"}.size())),
                ElementsAre(HasSubstr("tenants.token_header")));
}

TEST(ConfigLoad, APrincipalIsAListOrTheWordShared) {
    surroundings around = nothing_around();
    around.variables = {{"LONG", std::string(32, 's')}, {"SHORT", "fifteen bytes.."}};
    const auto with = [](const std::string& principal, const std::string& secret) {
        return std::string{smallest} + (secret.empty() ? "" : "principal_secret = " + secret) +
               "\n[[route]]\noperation = \"A\"\nkey = \"derived\"\nprincipal = " + principal + "\n";
    };
    const std::string one = R"(["Authorization"])";

    EXPECT_THAT(good(with(R"(["X-User", "Cookie:id"])", "\"env:LONG\""), around)
                    .routes.at(0)
                    .route.principal,
                ElementsAre("X-User", "Cookie:id"));
    EXPECT_THAT(good(with("\"shared\"", "")).routes.at(0).route.principal, ElementsAre("shared"));
    EXPECT_THAT(wrong(with("\"Authorization\"", "")), ElementsAre(HasSubstr("must be \"shared\"")));
    EXPECT_THAT(wrong(with(one, "")),
                ElementsAre(HasSubstr("openssl rand -hex 32 > principal.key")));
    EXPECT_THAT(wrong(with(one, "\"in plain, 32 bytes and then more\"")),
                ElementsAre(HasSubstr("must be \"file:/path\"")));
    EXPECT_THAT(wrong(with(one, "\"env:SHORT\""), around),
                ElementsAre(HasSubstr("at least 16 bytes")));
    EXPECT_THAT(wrong(with("[]", "")), ElementsAre(HasSubstr("keys are derived")));
}

// Whatever the bytes: a configuration or complaints, each one line that names the file.
TEST(ConfigLoad, SpoiltFilesAreRefusedInGoodOrder) {
    const std::string whole = std::string{smallest} + R"([server]
listen = "127.0.0.1:1"
drain = "5s"
[[route]]
operation = "A"
statuses = ["404 keep"]
[[operation]]
name = "B"
)";
    std::mt19937 chance{7};
    const std::string_view odd = "\"[]{}=.#\n\r\0\xFF'\\,-x1"sv;
    for (int round = 0; round < 3'000; ++round) {
        std::string text = whole;
        for (int n = 0; n < 1 + round % 4; ++n) {
            text[chance() % text.size()] = odd[chance() % odd.size()];
        }
        if (round % 5 == 0) text.resize(chance() % text.size());
        for (const std::string& one : wrong(text)) {
            EXPECT_EQ(one.find('\n'), std::string::npos) << one;
            EXPECT_TRUE(one.starts_with("semel.toml:")) << one;
        }
    }
}

TEST(ConfigLoad, HostileNamesStayOnOneLine) {
    const complaints got = wrong_beside_sound("[server]\n\"a\\nb\" = 1\n");

    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0].find('\n'), std::string::npos);
}

} // namespace
} // namespace semel::config::load_test
