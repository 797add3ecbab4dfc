// Bounds on what clients may hold of the server: bodies and connections.
#include <gtest/gtest.h>

#include "edge/server/address_book.hpp"
#include "edge/server/byte_budget.hpp"
#include "http/support/rig.hpp"

namespace semel::edge::bounds_test {
namespace {

using namespace support;
using namespace std::chrono_literals;

constexpr std::size_t room = 100'000;

rig_options with_room() {
    return {.adjust = [](gateway_options& options) {
        options.server.buffered_bytes_max = room;
        options.server.times.linger = 200ms;
    }};
}

std::string beginning_of(const std::string& key, std::size_t announced, std::size_t sent) {
    return "POST /orders HTTP/1.1\r\nHost: a\r\nIdempotency-Key: " + key +
           "\r\nContent-Length: " + std::to_string(announced) + "\r\n\r\n" + std::string(sent, 'x');
}

TEST(BodyRoom, ARequestThereIsNoRoomForIsToldToComeAgain) {
    rig all{with_room()};
    client holds{all.port()};
    holds.send(beginning_of("a", 80'000, 79'999));
    ASSERT_TRUE(eventually([&] { return all.gateway().counts().server.buffered == 79'999; }));

    const answer refused = all.post("b", std::string(30'000, 'x'));
    EXPECT_EQ(refused.problem(), "503 overloaded");
    EXPECT_EQ(refused.header("Retry-After"), "1");
    EXPECT_EQ(all.post("small", "{}").status, 201); // not counted
    EXPECT_EQ(all.gateway().counts().server.overloaded, 1U);

    EXPECT_EQ(holds.ask("x").status, 201);
    EXPECT_TRUE(eventually([&] { return all.gateway().counts().server.buffered == 0; }));
    EXPECT_EQ(all.post("b", std::string(30'000, 'x')).status, 201);
    EXPECT_EQ(all.behind.requests(), 3);
}

// What was only announced takes no room: else a few heads would lock everybody out.
TEST(BodyRoom, OnlyBytesThatCameCount) {
    rig all{with_room()};
    std::vector<client> idle;
    for (int i = 0; i < 20; ++i) {
        idle.emplace_back(all.port());
        idle.back().send(beginning_of("i" + std::to_string(i), 90'000, 10));
    }
    EXPECT_EQ(all.post("k", std::string(90'000, 'x')).status, 201);
}

TEST(BodyRoom, IsGivenBackByClientsThatGo) {
    rig all{with_room()};
    {
        client goes{all.port()};
        goes.send(beginning_of("a", 90'000, 80'000));
        ASSERT_TRUE(eventually([&] { return all.gateway().counts().server.buffered == 80'000; }));
    }
    EXPECT_TRUE(eventually([&] { return all.gateway().counts().server.buffered == 0; }));
}

TEST(BodyRoom, WorkWhoseClientHasGoneHoldsItsBodyToItsEnd) {
    rig all{with_room()};
    gate_flag go;
    all.behind.now_does([&](const seen_request&, socket& to) {
        go.wait();
        to.write(response_text(201, "done"));
    });
    client goes{all.port()};
    goes.send(beginning_of("a", 80'000, 80'000));
    ASSERT_TRUE(eventually([&] { return all.behind.requests() == 1; }));
    goes.connection().reset();
    EXPECT_EQ(all.gateway().counts().server.buffered, 80'000U);

    go.open();
    EXPECT_TRUE(eventually([&] { return all.gateway().counts().server.buffered == 0; }));
}

// An answer has taken effect: it is given up only where no record could hold it.
TEST(BodyRoom, AnswersThatARecordMayHoldAreHeld) {
    rig_options with = with_room();
    with.routes.front().policy.result_bytes_max = 150'000;
    rig all{std::move(with)};
    const auto answers = [&](std::size_t size) {
        all.behind.now_does([size](const seen_request&, socket& to) {
            to.write(response_text(201, std::string(size, 'y')));
        });
    };
    answers(140'000);
    EXPECT_EQ(all.post("fits").body.size(), 140'000U);
    EXPECT_EQ(all.post("fits").body.size(), 140'000U);
    answers(200'000);
    EXPECT_EQ(all.post("too large").problem(), "400 key-malformed");
    EXPECT_EQ(all.post("large").problem(), "409 result-not-kept");
    EXPECT_EQ(all.post("large").problem(), "409 result-not-kept");
    EXPECT_EQ(all.behind.requests(), 2);
    EXPECT_TRUE(eventually([&] { return all.gateway().counts().server.buffered == 0; }));
}

TEST(ByteBudget, SharesAreGivenBackWhateverBecomesOfThem) {
    const auto all = std::make_shared<byte_budget>(10'000);
    budget_share one{all};
    EXPECT_TRUE(one.grow_to(4'096)); // free
    EXPECT_EQ(all->taken(), 0U);
    EXPECT_TRUE(one.grow_to(6'000));
    EXPECT_TRUE(one.grow_to(5'000)); // never shrinks
    EXPECT_EQ(all->taken(), 6'000U);
    budget_share other{all};
    EXPECT_FALSE(other.grow_to(5'000));
    EXPECT_EQ(all->taken(), 6'000U);
    other = std::move(one);
    EXPECT_EQ(all->taken(), 6'000U);
    other = budget_share{all};
    EXPECT_EQ(all->taken(), 0U);
}

// ---- connections of one address

TEST(ConnectionsPerAddress, AreBoundedAndCounted) {
    rig all{{.adjust = [](gateway_options& options) {
        options.server.connections_per_address_max = 3;
    }}};
    std::vector<client> some;
    for (int i = 0; i < 3; ++i) {
        some.emplace_back(all.port());
        EXPECT_EQ(some.back().ask(post_text({.key = "k"})).status, 201);
    }

    client fourth{all.port()};
    EXPECT_TRUE(fourth.connection().ends());
    EXPECT_EQ(all.gateway().counts().server.refused, 1U);

    some.pop_back();
    EXPECT_TRUE(eventually([&] { return all.gateway().counts().server.open == 2; }));
    EXPECT_EQ(all.post("k").status, 201);
}

TEST(ConnectionsPerAddress, OfTrustedPeersAreNotBounded) {
    rig all{{.adjust = [](gateway_options& options) {
        options.server.connections_per_address_max = 1;
        options.server.trusted = {network::parse("127.0.0.0/8").value()};
    }}};
    std::vector<client> some;
    for (int i = 0; i < 5; ++i) {
        some.emplace_back(all.port());
        EXPECT_EQ(some.back().ask(post_text({.key = "k"})).status, 201);
    }
}

TEST(AddressBook, CountsEachAddressAlone) {
    address_book book;
    auto first = book.enter("10.0.0.1", 1);
    EXPECT_TRUE(first);
    EXPECT_FALSE(book.enter("10.0.0.1", 1));
    EXPECT_TRUE(book.enter("10.0.0.2", 1));
    first.reset();
    EXPECT_TRUE(book.enter("10.0.0.1", 1));
}

} // namespace
} // namespace semel::edge::bounds_test
