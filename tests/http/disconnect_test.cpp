// Clients that go away at every stage: what was claimed is executed once and stored.
#include <gtest/gtest.h>

#include "http/support/rig.hpp"

namespace semel::edge::disconnect_test {
namespace {

using namespace support;
using namespace std::chrono_literals;

const std::string whole = post_text({.key = "k", .body = R"({"amount":100})"});

answer repeat_of(rig& all) {
    return all.post("k", R"({"amount":100})");
}

TEST(Disconnect, BeforeTheHeadIsWholeNothingHappens) {
    rig all;
    for (const std::size_t cut : {1U, 20U, 60U}) {
        client gone{all.port()};
        gone.send(std::string_view{whole}.substr(0, cut));
    }
    EXPECT_EQ(repeat_of(all).body, "order 1");
}

TEST(Disconnect, BeforeTheBodyNothingIsClaimed) {
    rig all;
    {
        client gone{all.port()};
        gone.send(std::string_view{whole}.substr(0, whole.find("\r\n\r\n") + 4));
        ASSERT_TRUE(eventually([&] { return all.gateway().counts().server.requests == 1; }));
    }
    ASSERT_TRUE(eventually([&] { return all.gateway().counts().server.open == 0; }));

    EXPECT_EQ(all.engine().counters().executed, 0U);
    EXPECT_FALSE(repeat_of(all).replayed());
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Disconnect, InTheMiddleOfTheBodyNothingIsClaimed) {
    rig all;
    for (const std::size_t missing : {1U, 5U, 13U}) {
        client gone{all.port()};
        gone.send(std::string_view{whole}.substr(0, whole.size() - missing));
    }
    ASSERT_TRUE(eventually([&] {
        const auto counts = all.gateway().counts().server;
        return counts.accepted == 3 && counts.open == 0;
    }));

    EXPECT_EQ(all.gateway().counts().guarded, 0U);
    EXPECT_FALSE(repeat_of(all).replayed());
}

// R-1: the effect takes place, the client goes before the completion.
TEST(Disconnect, R_1_WhileTheUpstreamWorksTheResultIsStoredAndTheRepeatReplays) {
    rig all;
    gate_flag go;
    all.behind.now_does([&](const seen_request& request, socket& to) {
        go.wait();
        to.write(response_text(201, "order " + std::to_string(request.nth)));
    });
    {
        client gone{all.port()};
        gone.send(whole);
        ASSERT_TRUE(eventually([&] { return all.behind.requests() == 1; }));
        gone.connection().reset();
    }
    go.open();
    ASSERT_TRUE(all.settles());

    const answer again = repeat_of(all);
    EXPECT_EQ(again.body, "order 1");
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Disconnect, WhileTheAnswerIsWrittenTheResultIsStored) {
    rig all;
    const std::string large(std::size_t{900} << 10U, 'x');
    all.behind.now_does(
        [&](const seen_request&, socket& to) { to.write(response_text(200, large)); });
    {
        client gone{all.port()};
        gone.send(whole);
        ASSERT_TRUE(gone.receive_head());
        gone.connection().reset();
    }

    const answer again = repeat_of(all);
    EXPECT_EQ(again.body, large);
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Disconnect, AsSoonAsTheRequestIsSentItIsExecutedOnce) {
    rig all;
    for (int i = 0; i < 50; ++i) {
        const std::string key = "k" + std::to_string(i);
        client gone{all.port()};
        gone.send(post_text({.key = key}));
        if (i % 2 == 0) gone.connection().end_output(); // half closed, then closed
    }
    ASSERT_TRUE(eventually([&] { return all.gateway().counts().guarded == 50; }));
    ASSERT_TRUE(all.settles());

    for (int i = 0; i < 50; ++i) EXPECT_TRUE(all.post("k" + std::to_string(i)).replayed());
    EXPECT_EQ(all.behind.requests(), 50);
}

TEST(Disconnect, R_6_AWaitingRepeatThatGoesChangesNothing) {
    rig all;
    gate_flag go;
    all.behind.now_does([&](const seen_request&, socket& to) {
        go.wait();
        to.write(response_text(201, "done"));
    });
    client first{all.port()};
    first.send(whole);
    ASSERT_TRUE(eventually([&] { return all.behind.requests() == 1; }));
    {
        client waits{all.port()};
        waits.send(whole);
        ASSERT_TRUE(eventually([&] { return all.engine().counters().waiting == 1; }));
    }
    go.open();

    EXPECT_EQ(first.receive().body, "done");
    EXPECT_EQ(repeat_of(all).body, "done");
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Disconnect, AClientThatHalfClosesStillGetsItsAnswer) {
    rig all;
    client one{all.port()};
    one.send(whole);
    one.connection().end_output();
    EXPECT_EQ(one.receive().body, "order 1");
}

TEST(Disconnect, StreamingClientsThatGoTakeTheirUpstreamConnectionWithThem) {
    rig all;
    gate_flag cut;
    all.behind.now_does([&](const seen_request&, socket& to) {
        to.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
        const std::string piece(std::size_t{64} << 10U, 'x');
        while (to.write(piece)) {
        }
        cut.open();
    });
    {
        client gone{all.port()};
        gone.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
        ASSERT_TRUE(gone.receive_head());
    }
    EXPECT_TRUE(cut.wait());
    EXPECT_TRUE(eventually([&] { return all.gateway().counts().server.open == 0; }));
}

} // namespace
} // namespace semel::edge::disconnect_test
