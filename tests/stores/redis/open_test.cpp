// Servers that a store must not be opened on, or only by those who know the word.
#include <filesystem>
#include <thread>

#include "private_redis.hpp"
#include "redis_fixture.hpp"
#include "semel/open.hpp"
#include "support/one_answer_server.hpp"

namespace semel {
namespace {

using std::chrono::seconds;
using test::free_port;
using test::private_redis;
using testing::HasSubstr;
using testing::Not;

// Keeps what is logged.
class kept_log final : public logger {
public:
    [[nodiscard]] bool enabled(log_level) const noexcept override { return true; }
    void write(log_level, std::string_view message, std::span<const log_field>) noexcept override {
        text += message;
    }

    std::string text;
};

TEST(RedisOpen, NobodyListensThere) {
    const auto why = why_not({.port = free_port()});

    EXPECT_EQ(why.code, errc::unavailable);
    EXPECT_THAT(why.detail, HasSubstr("check that the server runs"));
}

TEST(RedisOpen, AHostThatDoesNotExist) {
    const auto why = why_not({.host = "no-such-host.invalid"});

    EXPECT_EQ(why.code, errc::unavailable);
    EXPECT_THAT(why.detail, HasSubstr("check the host name"));
}

TEST(RedisOpen, PasswordsAreChecked) {
    private_redis server{{"--requirepass", "right"}};
    auto options = server.options();

    const auto missing = why_not(options);
    options.password = "wrong";
    const auto wrong = why_not(options);
    options.password = "right";
    const auto right = open_redis_store(options);

    EXPECT_EQ(missing.code, errc::invalid_argument);
    EXPECT_THAT(missing.detail, HasSubstr("wants a password"));
    EXPECT_EQ(wrong.code, errc::invalid_argument);
    EXPECT_THAT(wrong.detail, HasSubstr("check user and password"));
    EXPECT_TRUE(right) << describe(right.error());
}

TEST(RedisOpen, APasswordForAServerWithoutOneIsAnError) {
    private_redis server;
    auto options = server.options();
    options.password = "any";

    EXPECT_THAT(why_not(options).detail, HasSubstr("has no password"));
}

TEST(RedisOpen, AUserWithTheNamedRightsCanDoEverything) {
    private_redis server;
    auto options = server.options();
    options.prefix = "shop:";
    options = as_advised_user(options);
    options.database = 1;
    const auto store = open_redis_store(options).value();
    const record_id id = id_of("k");

    const claim by = must_start(*store, id, begin_of(1));
    const auto renewed = store->call(id, commands::renew{.by = by, .lease = seconds{60}});
    const auto stored = store->call(id, complete_of(by, "x"));
    const auto removed = store->call(id, commands::remove{.actor = "anna"});

    EXPECT_TRUE(renewed) << describe(renewed.error());
    EXPECT_TRUE(stored) << describe(stored.error());
    EXPECT_TRUE(removed) << describe(removed.error());
    EXPECT_EQ(store->audit(id).value().size(), 1U);
    EXPECT_TRUE(store->sweep({.now = time_point{seconds{1}}}));
}

TEST(RedisOpen, AUserWithoutRightsIsToldWhichItNeeds) {
    private_redis server;
    // Within scripts, where the second meets its limits, the server has another word for it.
    const std::vector<std::vector<std::string_view>> too_few{{"~other:*", "+@all"},
                                                             {"~*", "&*", "+@all", "-set"}};
    for (const auto& rights : too_few) {
        const auto options = as_user_with(rights, server.options());
        const auto store = open_redis_store(options).value();

        const auto got = store->call(id_of("k"), begin_of(1));

        ASSERT_FALSE(got) << rights.back();
        EXPECT_EQ(got.error().code, errc::unavailable) << "they may be given while we run";
        EXPECT_THAT(got.error().detail, HasSubstr("~<prefix>*"));
        EXPECT_THAT(got.error().detail, HasSubstr("+set"));
    }
}

// Who may not publish completes nevertheless.
TEST(RedisOpen, AUserWithoutChannelsCanComplete) {
    private_redis server;
    const auto options = as_user_with({"~*", "resetchannels", "+@all"}, server.options());
    const auto store = open_redis_store(options).value();
    const claim by = must_start(*store, id_of("k"), begin_of(1));

    const auto got = store->call(id_of("k"), complete_of(by, "x"));

    ASSERT_TRUE(got) << describe(got.error());
    EXPECT_TRUE(std::holds_alternative<answers::stored>(got->said));
}

TEST(RedisOpen, ADatabaseThatDoesNotExist) {
    private_redis server;
    auto options = server.options();
    options.database = 4'711;

    const auto why = why_not(options);

    EXPECT_EQ(why.code, errc::invalid_argument);
    EXPECT_THAT(why.detail, HasSubstr("databases"));
}

TEST(RedisOpen, EvictionIsRefused) {
    private_redis server{{"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}};

    const auto why = why_not(server.options());

    EXPECT_EQ(why.code, errc::unsupported);
    EXPECT_THAT(why.detail, HasSubstr("allkeys-lru"));
    EXPECT_THAT(why.detail, HasSubstr("noeviction"));
}

TEST(RedisOpen, EvictionIsLoggedWhereItIsWanted) {
    private_redis server{{"--maxmemory", "100mb", "--maxmemory-policy", "volatile-ttl"}};
    const auto log = std::make_shared<kept_log>();
    auto options = server.options();
    options.eviction = redis_eviction::warn;
    options.log = log;

    const auto store = open_redis_store(options);

    EXPECT_TRUE(store) << describe(store.error());
    EXPECT_THAT(log->text, HasSubstr("volatile-ttl"));
}

TEST(RedisOpen, AReplicaIsRefused) {
    private_redis primary;
    private_redis replica{{"--replicaof", "127.0.0.1 " + std::to_string(primary.port())}};

    const auto why = why_not(replica.options());

    EXPECT_EQ(why.code, errc::read_only);
    EXPECT_THAT(why.detail, HasSubstr("primary"));
}

TEST(RedisOpen, AReplicaMayBeLookedAt) {
    private_redis primary;
    must_start(*open_redis_store(primary.options()).value(), id_of("k"), begin_of(1));
    private_redis replica{{"--replicaof", "127.0.0.1 " + std::to_string(primary.port())}};
    redis_store_options options = replica.options();
    options.mode = open_mode::read_only;
    const auto looked = open_redis_store(options);
    ASSERT_TRUE(looked) << describe(looked.error());
    const auto is_there = [&] {
        const auto got = (*looked)->call(id_of("k"), commands::lookup{});
        return got && std::get<answers::found>(got->said).current;
    };

    const local_time deadline = local_clock::now() + std::chrono::seconds{20};
    while (!is_there() && local_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }

    EXPECT_TRUE(is_there());
    const auto all = (*looked)->search({});
    ASSERT_TRUE(all) << describe(all.error());
    EXPECT_TRUE((*looked)->audit(id_of("k")));
    const auto begun = (*looked)->call(id_of("new"), begin_of(1));
    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, errc::read_only);
}

TEST(RedisOpen, AServerThatBecomesAReplicaSaysSo) {
    private_redis server;
    private_redis primary;
    const auto store = open_redis_store(server.options()).value();
    must_start(*store, id_of("before"), begin_of(1));
    test::redis_client root{server.options()};
    root.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});

    const auto got = store->call(id_of("after"), begin_of(1));

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::read_only);
    EXPECT_EQ(got.error().possible, effect::none);
}

TEST(RedisOpen, AClusterIsRefused) {
    private_redis server{
        {"--cluster-enabled", "yes", "--cluster-port", std::to_string(free_port())}};

    EXPECT_EQ(why_not(server.options()).code, errc::unsupported);
}

// ---- TLS

class RedisTls : public testing::Test {
protected:
    RedisTls() { options_.ca_file = authority_; }

    const std::string authority_ = test::server_url("SEMEL_TEST_CA");
    redis_store_options options_ = test::options_of(test::server_url("SEMEL_TEST_REDIS_TLS"));
};

TEST_F(RedisTls, WorksWithTheRightAuthority) {
    options_.prefix = test::fresh_prefix();
    const auto store = open_redis_store(options_).value();

    const claim by = must_start(*store, id_of("k"), begin_of(1));
    const std::string large(2'000'000, 'x');
    ASSERT_TRUE(store->call(id_of("k"), complete_of(by, large)));
    const auto got = store->call(id_of("k"), begin_of(2)).value();

    EXPECT_EQ(std::get<answers::replay>(got.said).result.body.size(), large.size());
    test::redis_client{options_}.remove_all(options_.prefix);
}

TEST_F(RedisTls, AnUnknownAuthorityIsRefused) {
    options_.ca_file.clear();

    const auto why = why_not(options_);

    EXPECT_EQ(why.code, errc::invalid_argument);
    EXPECT_THAT(why.detail, HasSubstr("certificate"));
    EXPECT_THAT(why.detail, HasSubstr("ca_file"));
}

TEST_F(RedisTls, ACertificateForAnotherHostIsRefused) {
    const auto folder = std::filesystem::path{authority_}.parent_path();
    const auto port = std::to_string(free_port());
    private_redis server{{"--bind", "127.0.0.1 127.0.0.2", "--tls-port", port, "--tls-cert-file",
                          folder / "server.crt", "--tls-key-file", folder / "server.key",
                          "--tls-ca-cert-file", authority_, "--tls-auth-clients", "no"}};
    options_.port = static_cast<std::uint16_t>(std::stoul(port));
    options_.host = "127.0.0.1";
    const auto right = open_redis_store(options_);
    options_.host = "127.0.0.2";

    const auto why = why_not(options_);

    EXPECT_TRUE(right) << describe(right.error());
    EXPECT_EQ(why.code, errc::invalid_argument);
    EXPECT_THAT(why.detail, HasSubstr("mismatch"));
}

// It would never work, and nobody would notice: a front that is away is no error.
TEST_F(RedisTls, AFrontOfAnUnknownAuthorityIsRefused) {
    const std::string front = "tiered:?front=" + test::server_url("SEMEL_TEST_REDIS_TLS");
    const std::string truth = "&truth=memory:";

    const auto foreign = open_store(front + truth);
    const auto known = open_store(front + "?ca_file=" + authority_ + truth);

    ASSERT_FALSE(foreign);
    EXPECT_EQ(foreign.error().code, errc::invalid_argument);
    EXPECT_THAT(foreign.error().detail, HasSubstr("ca_file"));
    EXPECT_TRUE(known) << describe(known.error());
}

TEST_F(RedisTls, AServerMayAskForTheClientsCertificate) {
    const auto folder = std::filesystem::path{authority_}.parent_path();
    const auto port = std::to_string(free_port());
    private_redis server{{"--tls-port", port, "--tls-cert-file", folder / "server.crt",
                          "--tls-key-file", folder / "server.key", "--tls-ca-cert-file", authority_,
                          "--tls-auth-clients", "yes"}};
    options_.port = static_cast<std::uint16_t>(std::stoul(port));
    const auto without = open_redis_store(options_);
    options_.cert_file = folder / "server.crt";
    options_.key_file = folder / "server.key";

    const auto with = open_redis_store(options_);

    EXPECT_FALSE(without);
    EXPECT_TRUE(with) << describe(with.error());
}

TEST_F(RedisTls, APlainPortIsSaidNotToSpeakIt) {
    auto plain = test::options_of(test::server_url("SEMEL_TEST_REDIS"));
    plain.tls = true;
    plain.ca_file = authority_;
    plain.connect_timeout = std::chrono::milliseconds{300}; // it waits for the end of a line

    const auto why = why_not(plain);

    EXPECT_EQ(why.code, errc::unavailable);
    EXPECT_THAT(why.detail, HasSubstr("does this port speak TLS"));
}

// As a proxy does that is shutting down.
TEST_F(RedisTls, AServerThatSaysGoodbyeInsteadOfHelloIsLeft) {
    const std::string goodbye{"\x15\x03\x03\x00\x02\x01\x00", 7}; // close_notify
    const test::one_answer_server server{goodbye};
    options_.host = "127.0.0.1";
    options_.port = server.port();

    const auto why = why_not(options_);

    EXPECT_EQ(why.code, errc::unavailable);
    EXPECT_THAT(why.detail, HasSubstr("closed the stream"));
    EXPECT_THAT(why.detail, HasSubstr("does this port speak TLS"));
}

TEST_F(RedisTls, ATlsPortDoesNotAnswerPlainClients) {
    options_.tls = false;
    options_.ca_file.clear();

    EXPECT_THAT(why_not(options_).detail, Not(HasSubstr("it could be opened")));
}

TEST_F(RedisTls, UrlsOpenBothKinds) {
    const auto plain = open_store(test::server_url("SEMEL_TEST_REDIS") + "/2?lanes=1&prefix=x:");
    const auto secret =
        open_store(test::server_url("SEMEL_TEST_REDIS_TLS") + "?ca_file=" + authority_);

    EXPECT_TRUE(plain) << describe(plain.error());
    EXPECT_TRUE(secret) << describe(secret.error());
}

} // namespace
} // namespace semel
