// Bounds on what clients may hold of the server: bodies and connections.
#include <gtest/gtest.h>

#include <thread>

#include "edge/server/address_book.hpp"
#include "edge/server/byte_budget.hpp"
#include "edge/server/handler.hpp"
#include "http/support/rig.hpp"
#include "support/hostile_json.hpp"

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

// ---- who gives way

budget_share coming(const std::shared_ptr<byte_budget>& all, std::uint64_t from,
                    std::chrono::milliseconds age, std::size_t bytes) {
    budget_share made{all};
    made.comes_from(from, byte_budget::clock::now() - age);
    EXPECT_TRUE(made.grow_to(bytes));
    return made;
}

TEST(ByteBudget, TheSlowestBodyOfTheAddressThatHoldsTheMostGivesWay) {
    const auto all = std::make_shared<byte_budget>(100'000, 1s);
    const auto fast = coming(all, 1, 10s, 35'000);
    const auto slow = coming(all, 1, 100s, 35'000);
    const auto small = coming(all, 2, 1'000s, 20'000);

    const auto newcomer = coming(all, 3, 0s, 30'000);

    EXPECT_FALSE(fast.was_cut());
    EXPECT_TRUE(slow.was_cut());
    EXPECT_FALSE(small.was_cut());
    EXPECT_EQ(all->taken(), 85'000U);
}

TEST(ByteBudget, NobodyGivesWayToOneThatHoldsMore) {
    const auto all = std::make_shared<byte_budget>(100'000, 1s);
    const auto small = coming(all, 1, 100s, 30'000);
    auto large = coming(all, 2, 10s, 60'000);

    EXPECT_FALSE(large.grow_to(80'000));

    EXPECT_FALSE(small.was_cut());
    EXPECT_EQ(all->taken(), 90'000U);
}

TEST(ByteBudget, OfOneAddressTheSlowerGivesWay) {
    const auto all = std::make_shared<byte_budget>(100'000, 1s);
    auto slow = coming(all, 1, 100s, 60'000);
    auto fast = coming(all, 1, 2s, 30'000);

    EXPECT_FALSE(slow.grow_to(80'000));
    EXPECT_TRUE(fast.grow_to(50'000));

    EXPECT_TRUE(slow.was_cut());
    EXPECT_FALSE(slow.grow_to(60'001));
    EXPECT_FALSE(slow.settle());
}

TEST(ByteBudget, NobodyGivesWayWhereThatIsNotEnough) {
    const auto all = std::make_shared<byte_budget>(100'000, 1s);
    EXPECT_TRUE(all->take(60'000)); // answers
    const auto slow = coming(all, 1, 100s, 30'000);
    budget_share newcomer{all};
    newcomer.comes_from(1, byte_budget::clock::now());

    EXPECT_FALSE(newcomer.grow_to(50'000));
    EXPECT_FALSE(slow.was_cut());
    EXPECT_TRUE(newcomer.grow_to(40'000));
    EXPECT_TRUE(slow.was_cut());
}

TEST(ByteBudget, NewAndWholeBodiesStay) {
    const auto all = std::make_shared<byte_budget>(100'000, 1s);
    auto whole = coming(all, 1, 100s, 60'000);
    EXPECT_TRUE(whole.settle());
    const auto fresh = coming(all, 1, 500ms, 30'000);
    budget_share newcomer{all};
    newcomer.comes_from(2, byte_budget::clock::now());

    EXPECT_FALSE(newcomer.grow_to(20'000));
    EXPECT_TRUE(newcomer.grow_to(10'000));

    EXPECT_FALSE(whole.was_cut());
    EXPECT_FALSE(fresh.was_cut());
}

TEST(ByteBudget, WorkUnderWayIsCountedAndNotRefused) {
    const auto all = std::make_shared<byte_budget>(100'000);
    {
        budget_share working{all};
        working.hold(150'000);
        EXPECT_EQ(all->taken(), 150'000U);
        EXPECT_FALSE(all->take(1));
    }
    EXPECT_EQ(all->taken(), 0U);
}

// One client, a byte short of the end, would otherwise lock everybody out for as long as it likes.
TEST(BodyRoom, IsTakenFromBodiesThatDoNotComeOn) {
    rig all{{.adjust = [](gateway_options& options) {
        options.server.buffered = std::make_shared<byte_budget>(room, 50ms);
        options.server.times.linger = 200ms;
    }}};
    std::vector<client> holds;
    for (int i = 0; i < 4; ++i) {
        holds.emplace_back(all.port());
        holds.back().send(beginning_of("h" + std::to_string(i), 25'000, 24'999));
    }
    ASSERT_TRUE(eventually([&] { return all.gateway().counts().server.buffered == 4 * 24'999; }));
    std::this_thread::sleep_for(1s);

    EXPECT_EQ(all.post("b", std::string(60'000, 'x')).status, 201);

    EXPECT_TRUE(eventually([&] { return all.gateway().counts().server.overloaded == 3; }));
    EXPECT_TRUE(eventually([&] { return all.gateway().counts().server.buffered == 24'999; }));
}

TEST(BodyTime, OfABodyThatIsHeldHasAnEnd) {
    rig all{{.adjust = [](gateway_options& options) {
        options.server.times.body_max = 500ms;
        options.server.times.body_rate_min = 1;
    }}};
    client slow{all.port()};
    slow.send(beginning_of("a", 90'000, 80'000));
    for (int i = 0; i < 20; ++i) {
        slow.send("x");
        std::this_thread::sleep_for(50ms);
    }

    EXPECT_EQ(slow.receive().status, 408);
    EXPECT_EQ(all.behind.requests(), 0);
}

// ---- bodies that take long to be compared

TEST(LargeBody, IsExecutedOnceAndReplayed) {
    rig all;
    std::string body = "[0";
    while (body.size() < apart_bytes * 2) body += ",0";
    body += "]";

    EXPECT_EQ(all.post("k", body).body, "order 1");
    EXPECT_EQ(all.post("k", body + " ").body, "order 1");
    EXPECT_EQ(all.post("k", body + "x").problem(), "422 mismatch");
    EXPECT_TRUE(eventually([&] { return all.gateway().counts().server.buffered == 0; }));
}

TEST(LargeBody, HostileOnesAreAnsweredSoon) {
    rig all;
    for (const auto& [name, text] : semel::support::hostile_jsons()) {
        const auto took = semel::support::time_of([&, &key = name, &body = text] {
            EXPECT_EQ(all.post('"' + std::string{key} + '"', body).status, 201) << key;
        });
        EXPECT_LT(took, 1s) << name;
    }
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
        options.server.trusted = {net::network::parse("127.0.0.0/8").value()};
    }}};
    std::vector<client> some;
    for (int i = 0; i < 5; ++i) {
        some.emplace_back(all.port());
        EXPECT_EQ(some.back().ask(post_text({.key = "k"})).status, 201);
    }
}

TEST(Address, BlocksAreWhatOnePartyHas) {
    EXPECT_EQ(net::block_of("192.0.2.1"), "192.0.2.1");
    EXPECT_EQ(net::block_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::/64");
    EXPECT_EQ(net::block_of("2001:db8:1:2::9"), "2001:db8:1:2::/64");
    EXPECT_EQ(net::block_of("2001:db8:1:3::9"), "2001:db8:1:3::/64");
    EXPECT_EQ(net::block_of("::1"), "::/64");
    EXPECT_EQ(net::block_of("fe80::1%lo"), "fe80::1%lo");
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
