// Whose answer a replay is: what a client gets that knows another client's key, or sends the same
// request as another client.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "http/support/rig.hpp"
#include "semel/databases/sqlite.hpp"

namespace semel::edge::principal_test {
namespace {

using namespace support;

constexpr const char* alice = "Authorization: Bearer alice\r\n";
constexpr const char* mallory = "Authorization: Bearer mallory\r\n";

// A service with a login of its own: each user gets an answer of its own, strangers get 401.
void answers_by_login(upstream& behind) {
    behind.now_does([](const seen_request& request, socket& to) {
        const std::string* who = request.head.headers.find("Authorization");
        if (who == nullptr) return to.write(response_text(401, "log in")), void();
        to.write(response_text(201, *who + " order " + std::to_string(request.nth)));
    });
}

rig_options one_route(http::route how) {
    if (how.operation.empty()) how.operation = "ORDER";
    if (how.principal.empty()) how.principal = {"Authorization"};
    return {.routes = {std::move(how)}, .adjust = [](gateway_options& options) {
                options.gate.principal_secret = "a secret of the fleet, 32 bytes.";
            }};
}

TEST(Principal, I_17_AReplayGoesToTheClientThatGotTheFirstAnswer) {
    rig all{one_route({})};
    answers_by_login(all.behind);

    const answer hers = all.send({.key = "k", .headers = alice});
    const answer again = all.send({.key = "k", .headers = alice});
    const answer other = all.send({.key = "k", .headers = mallory});
    const answer anonymous = all.send({.key = "k"});

    EXPECT_EQ(hers.body, "Bearer alice order 1");
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.body, hers.body);
    EXPECT_FALSE(other.replayed());
    EXPECT_EQ(other.body, "Bearer mallory order 2");
    EXPECT_EQ(anonymous.problem(), "401 principal-missing");
    EXPECT_NE(anonymous.body.find("Authorization"), std::string::npos);
    EXPECT_EQ(all.behind.requests(), 2);
}

// Nor does another's key tell whether it has been used: no 422, no 409.
TEST(Principal, AnotherBodyUnderAnotherClientsKeyIsANewRequest) {
    rig all{one_route({})};
    answers_by_login(all.behind);
    (void)all.send({.key = "k", .headers = alice});

    EXPECT_EQ(all.send({.key = "k", .body = "[1]", .headers = mallory}).status, 201);
    EXPECT_EQ(all.send({.key = "k", .body = "[1]", .headers = alice}).problem(), "422 mismatch");
}

TEST(Principal, EqualRequestsOfTwoClientsAreTwoWithDerivedKeys) {
    rig all{one_route({.need = http::key_need::derived})};
    answers_by_login(all.behind);

    const answer hers = all.send({.headers = alice});
    const answer again = all.send({.headers = alice});
    const answer other = all.send({.headers = mallory});
    const answer anonymous = all.send({});

    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.body, hers.body);
    EXPECT_EQ(other.body, "Bearer mallory order 2");
    EXPECT_EQ(anonymous.problem(), "401 principal-missing");
    const auto seen = all.behind.seen();
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_NE(*seen[0].head.headers.find("Idempotency-Key"),
              *seen[1].head.headers.find("Idempotency-Key"));
}

// The credentials are the principal, not what stands behind them.
TEST(Principal, ARequestWithARefreshedTokenIsANewRequest) {
    rig all{one_route({})};
    answers_by_login(all.behind);
    (void)all.send({.key = "k", .headers = alice});

    const answer later = all.send({.key = "k", .headers = "Authorization: Bearer alice2\r\n"});

    EXPECT_EQ(later.status, 201);
    EXPECT_FALSE(later.replayed());
}

TEST(Principal, ACookieCountsAndTheOthersDoNot) {
    rig all{one_route({.principal = {"Cookie:session", "X-User"}})};

    const answer hers = all.send({.key = "k", .headers = "Cookie: a=1; session=alice\r\n"});
    const answer again = all.send({.key = "k", .headers = "Cookie: session=alice; a=2\r\n"});
    const answer other = all.send({.key = "k", .headers = "Cookie: session=mallory; a=1\r\n"});
    const answer named = all.send({.key = "k", .headers = "X-User: alice\r\n"});

    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.body, hers.body);
    EXPECT_FALSE(other.replayed());
    EXPECT_FALSE(named.replayed());
    for (const char* empty :
         {"Cookie: a=1\r\n", "Cookie: session=\r\n", "Cookie: xsession=alice\r\n",
          "Cookie: session\r\n", "Cookie: Session=alice\r\n", "X-User:\r\n"}) {
        EXPECT_EQ(all.send({.key = "k", .headers = empty}).problem(), "401 principal-missing")
            << empty;
    }
}

// The service does not get such a header of an untrusted client either.
TEST(Principal, AProxysWordCountsOfTrustedPeersOnly) {
    const char* hers = "X-Forwarded-User: alice\r\n";
    rig open{one_route({.principal = {"X-Forwarded-User"}})};
    EXPECT_EQ(open.send({.key = "k", .headers = hers}).problem(), "401 principal-missing");
    EXPECT_EQ(open.behind.requests(), 0);

    rig_options trusting = one_route({.principal = {"X-Forwarded-User"}});
    trusting.adjust = [before = trusting.adjust](gateway_options& options) {
        before(options);
        options.server.trusted = {net::network::parse("127.0.0.0/8").value()};
    };
    rig behind_a_proxy{std::move(trusting)};
    EXPECT_EQ(behind_a_proxy.send({.key = "k", .headers = hers}).status, 201);
    EXPECT_TRUE(behind_a_proxy.send({.key = "k", .headers = hers}).replayed());
}

TEST(Principal, ClientsWithoutOneMayBeOnePrincipal) {
    rig all{one_route({.without_principal = http::no_principal::anonymous})};
    answers_by_login(all.behind);
    (void)all.send({.key = "k", .headers = alice});

    // The service asks for the login, as without a gateway.
    EXPECT_EQ(all.send({.key = "k"}).body, "log in");
    all.behind.now_does([](const seen_request& request, socket& to) {
        to.write(response_text(201, "guest " + std::to_string(request.nth)));
    });
    const answer guest = all.send({.key = "k"});

    EXPECT_EQ(guest.body, "guest 3");
    EXPECT_TRUE(all.send({.key = "k"}).replayed());
}

TEST(Principal, SharedMeansThatAllGetTheAnswer) {
    rig all{one_route({.need = http::key_need::derived, .principal = {"shared"}})};

    (void)all.send({.headers = alice});

    EXPECT_TRUE(all.send({.headers = mallory}).replayed());
    EXPECT_TRUE(all.send({}).replayed());
}

// What an operator searches for, and what stays secret.
TEST(Principal, TheKeyAsSentBeginsTheRecordsKeyAndNoValueIsStored) {
    rig all{one_route({.forward = http::key_forwarding::record})};
    (void)all.send({.key = "order-17", .headers = alice});

    const auto page = all.engine().records().search({.results = result_bodies::included}).value();

    ASSERT_EQ(page.records.size(), 1U);
    const std::string& key = page.records[0].id.key;
    EXPECT_EQ(key.size(), 8U + 33U);
    EXPECT_TRUE(key.starts_with("order-17~")) << key;
    EXPECT_EQ(key.find("alice"), std::string::npos);
    EXPECT_EQ(*all.behind.seen()[0].head.headers.find("Idempotency-Key"), key);
}

TEST(Principal, TheUpstreamGetsTheKeyAsSentUnlessTheRouteSaysOtherwise) {
    rig all{one_route({})};
    (void)all.send({.key = "\"order 17\"", .headers = alice});

    EXPECT_EQ(*all.behind.seen()[0].head.headers.find("Idempotency-Key"), "\"order 17\"");
}

TEST(Principal, KeysMayBeAsLongAsTheRecordHasRoomFor) {
    rig all{one_route({})};

    EXPECT_EQ(all.send({.key = std::string(222, 'k'), .headers = alice}).status, 201);
    EXPECT_TRUE(all.send({.key = std::string(222, 'k'), .headers = alice}).replayed());
    EXPECT_EQ(all.send({.key = std::string(223, 'k'), .headers = alice}).problem(),
              "400 key-too-long");
}

TEST(Principal, TheProbeIsAskedAboutTheKeyThatTheServiceGot) {
    http::route how{.forward = http::key_forwarding::record};
    how.policy.on_lease_expiry = lease_expiry::probe;
    auto with = one_route(std::move(how));
    with.adjust = [before = with.adjust](gateway_options& options) {
        before(options);
        options.probes["ORDER"] = "/outcome";
    };
    rig all{std::move(with)};
    all.behind.now_does([](const seen_request& request, socket& to) {
        if (request.head.method == "POST") return to.close();
        to.write(response_text(200, R"({"outcome":"committed","status":201,"body":"order 1"})"));
    });
    EXPECT_EQ(all.send({.key = "k", .headers = alice}).problem(), "504 outcome-unknown");

    EXPECT_EQ(all.send({.key = "k", .headers = alice}).body, "order 1");

    const auto seen = all.behind.seen();
    std::string sent = *seen[0].head.headers.find("Idempotency-Key");
    sent.replace(sent.find('~'), 1, "%7E");
    EXPECT_NE(seen[1].head.target.find("key=" + sent + "&"), std::string::npos)
        << seen[1].head.target;
}

// S16: a client cannot take the key that another client's request will get.
TEST(Principal, AKeyThatAnotherRequestWillGetIsReserved) {
    rig all{one_route({.need = http::key_need::derived, .principal = {"shared"}})};
    (void)all.send({.body = R"({"item":7})"});
    const std::string taken = *all.behind.seen()[0].head.headers.find("Idempotency-Key");

    EXPECT_EQ(all.send({.key = taken, .body = R"({"item":8})"}).problem(), "400 key-reserved");
    EXPECT_TRUE(all.send({.key = taken, .body = R"({"item":7})"}).replayed()); // a gateway before
    EXPECT_EQ(all.send({.key = "fp-1", .body = R"({"item":8})"}).status, 201);
}

TEST(Principal, TwoGatewaysWithOneSecretAgree) {
    const auto file = std::filesystem::temp_directory_path() /
                      ("semel-principal-" + std::to_string(getpid()) + ".db");
    const auto made = [&](std::string secret) {
        rig_options with = one_route({});
        with.records = open_sqlite_store({.path = file}).value();
        with.adjust = [secret](gateway_options& options) {
            options.gate.principal_secret = secret;
        };
        return with;
    };
    {
        rig first{made("a secret of the fleet, 32 bytes.")};
        rig second{made("a secret of the fleet, 32 bytes.")};
        rig other{made("another one of as many bytes, 32")};
        answers_by_login(first.behind);
        (void)first.send({.key = "k", .headers = alice});

        EXPECT_TRUE(second.send({.key = "k", .headers = alice}).replayed());
        EXPECT_FALSE(second.send({.key = "k", .headers = mallory}).replayed());
        EXPECT_FALSE(other.send({.key = "k", .headers = alice}).replayed());
    }
    for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + end);
}

TEST(Principal, ANamedHeaderCannotBeHiddenBehindConnection) {
    rig all{one_route({.principal = {"X-User"}})};

    EXPECT_EQ(all.send({.key = "k", .headers = "X-User: alice\r\nConnection: X-User\r\n"}).status,
              400);
    EXPECT_EQ(all.behind.requests(), 0);
}

} // namespace
} // namespace semel::edge::principal_test
