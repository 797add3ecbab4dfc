// Two gateways on one PostgreSQL; the first is killed (SIGKILL) at each step of a request. What may
// come of it is in docs/promises.md, and each policy must keep to it.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <functional>
#include <future>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "e2e/scene.hpp"

namespace semel::e2e {
namespace {

using support::answer;
using support::eventually;

// What the first gateway left behind.
struct left {
    std::string record = "processing";
    int orders = 0;
};

// The record is another's until its lease has lapsed.
void expect_held(scene& all, const left& behind) {
    const answer early = all.repeat();
    EXPECT_EQ(early.problem(), "409 in-progress");
    EXPECT_FALSE(early.header("Retry-After").empty());
    EXPECT_EQ(all.behind().orders(), behind.orders);
}

// Then the policy decides.
void expect_policy(scene& all, const left& behind) {
    const answer late = all.repeat();
    if (all.policy() == "hold") {
        EXPECT_EQ(late.problem(), "409 in-doubt"); // at most once, until an operator decides
        EXPECT_EQ(all.behind().orders(), behind.orders);
        EXPECT_EQ(all.record(), "lapsed");
    } else if (all.policy() == "probe" && behind.orders > 0) {
        EXPECT_EQ(late.status, 201);
        EXPECT_EQ(late.body, "order 1"); // the shop knew
        EXPECT_TRUE(late.replayed());
        EXPECT_EQ(all.behind().orders(), behind.orders);
        EXPECT_EQ(all.record(), "succeeded");
    } else {
        EXPECT_EQ(late.status, 201); // executed, perhaps again: at least once
        EXPECT_FALSE(late.replayed());
        EXPECT_EQ(all.behind().orders(), behind.orders + 1);
        EXPECT_EQ(all.record(), "succeeded");
    }
}

// It ran to its end before, or never began.
void expect_settled(scene& all, const left& behind) {
    const answer again = all.repeat();
    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(again.body, "order 1");
    EXPECT_EQ(again.replayed(), behind.record == "succeeded");
    EXPECT_EQ(all.behind().orders(), 1);
    EXPECT_EQ(all.record(), "succeeded");
}

void expect_outcome(scene& all, const left& behind) {
    ASSERT_EQ(all.record(), behind.record);
    ASSERT_EQ(all.behind().orders(), behind.orders);
    if (behind.record == "processing") {
        expect_held(all, behind);
        all.let_lease_lapse();
    }
    if (all.record() == "lapsed") {
        expect_policy(all, behind);
    } else {
        expect_settled(all, behind);
    }
    if (all.record() != "succeeded") return;
    // From here on every repeat gets that one answer.
    const int orders = all.behind().orders();
    EXPECT_TRUE(all.repeat().replayed());
    EXPECT_EQ(all.behind().orders(), orders);
}

// Once for each policy, at the same time; `reach` goes to the point, kills, and says what is left.
void for_each_policy(const scene_options& with, const std::function<left(scene&)>& reach) {
    std::vector<std::future<void>> all;
    for (const char* policy : {"retry", "hold", "probe"}) {
        scene_options mine = with;
        mine.policy = policy;
        all.push_back(std::async(std::launch::async, [&reach, mine] {
            SCOPED_TRACE(mine.policy);
            scene one{mine};
            const left behind = reach(one);
            expect_outcome(one, behind);
        }));
    }
    for (auto& one : all) one.get(); // throws what it threw
}

// ---- before the claim

TEST(GatewayKilled, BeforeTheBodyIsWhole) {
    for_each_policy({}, [](scene& all) -> left {
        all.client().send("POST /orders HTTP/1.1\r\nHost: shop.test\r\nIdempotency-Key: k\r\n"
                          "Content-Type: application/json\r\nContent-Length: 2\r\n\r\nx");
        EXPECT_TRUE(all.client().hears_nothing_for(50));
        all.kill_first();
        return {.record = "absent"};
    });
}

TEST(GatewayKilled, ClaimingAndTheClaimIsLost) {
    for_each_policy({}, [](scene& all) -> left {
        all.lock_table();
        all.send_order();
        EXPECT_TRUE(all.waits("INSERT"));
        all.kill_first();
        all.unlock_after_ending_statements();
        return {.record = "absent"};
    });
}

// The database carries out what a dead client has sent.
TEST(GatewayKilled, ClaimingAndTheClaimTakesEffectLater) {
    for_each_policy({}, [](scene& all) -> left {
        all.lock_table();
        all.send_order();
        EXPECT_TRUE(all.waits("INSERT"));
        all.kill_first();
        all.unlock();
        return {.record = "processing"};
    });
}

// ---- on the way to the shop

// Takes no more connections: whoever connects waits.
class full_house {
public:
    full_house() {
        sockaddr_in where = loopback(0);
        socklen_t size = sizeof where;
        door_ = support::socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        ::bind(door_.descriptor(), reinterpret_cast<sockaddr*>(&where), size);
        ::listen(door_.descriptor(), 0);
        ::getsockname(door_.descriptor(), reinterpret_cast<sockaddr*>(&where), &size);
        port_ = ntohs(where.sin_port);
        for (int i = 0; i < 4; ++i) crowd_.push_back(arrive());
    }
    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    static sockaddr_in loopback(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        return address;
    }
    [[nodiscard]] support::socket arrive() const {
        support::socket one{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
        const sockaddr_in where = loopback(port_);
        (void)::connect(one.descriptor(), reinterpret_cast<const sockaddr*>(&where), sizeof where);
        return one;
    }

    support::socket door_;
    std::vector<support::socket> crowd_;
    std::uint16_t port_ = 0;
};

TEST(GatewayKilled, ClaimedAndNotYetConnected) {
    const full_house full;
    for_each_policy({.first_upstream = "http://127.0.0.1:" + std::to_string(full.port())},
                    [](scene& all) -> left {
                        all.send_order();
                        EXPECT_TRUE(all.is_claimed());
                        all.kill_first();
                        return {};
                    });
}

// With TLS a connection stands before anything of the request may be sent.
TEST(GatewayKilled, ConnectedAndNothingSent) {
    std::atomic<int> greeted = 0;
    support::gate_flag over;
    support::upstream silent;
    silent.on_connection([&](support::socket& to) {
        if (to.read_some()) ++greeted;
        over.wait();
    });
    for_each_policy({.first_upstream = "https://127.0.0.1:" + std::to_string(silent.port())},
                    [&](scene& all) -> left {
                        all.send_order();
                        EXPECT_TRUE(all.is_claimed());
                        EXPECT_TRUE(eventually([&] { return greeted == 3; }));
                        all.kill_first();
                        return {};
                    });
    over.open();
    EXPECT_EQ(silent.requests(), 0);
}

TEST(GatewayKilled, HalfOfTheRequestSent) {
    std::atomic<int> begun = 0;
    support::gate_flag over;
    support::upstream narrow;
    narrow.on_connection([&](support::socket& to) {
        const int small = 4'096;
        ::setsockopt(to.descriptor(), SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
        if (to.read_some()) ++begun;
        over.wait();
        to.shutdown();
    });
    constexpr std::size_t more_than_buffers_take = 7'500'000;
    for_each_policy({.first_upstream = "http://127.0.0.1:" + std::to_string(narrow.port())},
                    [&](scene& all) -> left {
                        all.send_order(more_than_buffers_take);
                        EXPECT_TRUE(eventually([&] { return begun == 3; }));
                        all.kill_first();
                        return {};
                    });
    over.open();
    EXPECT_EQ(narrow.requests(), 0);
}

// ---- at the shop

void expect_whole_after_kill_at(stall where) {
    for_each_policy({.at = where}, [](scene& all) -> left {
        all.send_order();
        EXPECT_TRUE(all.behind().has_stalled());
        all.kill_first();
        EXPECT_EQ(all.client().receive().status, 0); // its client was told nothing
        return {.orders = 1};
    });
}

TEST(GatewayKilled, WhileTheShopWorks) {
    expect_whole_after_kill_at(stall::working);
}

TEST(GatewayKilled, InTheHeadOfTheAnswer) {
    expect_whole_after_kill_at(stall::half_head);
}

TEST(GatewayKilled, InTheBodyOfTheAnswer) {
    expect_whole_after_kill_at(stall::half_body);
}

// The lease is short and lapses by itself: the dead do not renew it.
TEST(GatewayKilled, WhileRenewing) {
    for_each_policy({.at = stall::working, .lease = "1500ms"}, [](scene& all) -> left {
        all.send_order();
        EXPECT_TRUE(all.behind().has_stalled());
        all.lock_record();
        EXPECT_TRUE(all.waits("lease_until = greatest"));
        all.kill_first();
        all.unlock_after_ending_statements();
        EXPECT_TRUE(eventually([&] { return all.record() == "lapsed"; }));
        return {.record = "lapsed", .orders = 1};
    });
}

// ---- with the answer

TEST(GatewayKilled, CompletingAndTheCompletionIsLost) {
    for_each_policy({.at = stall::working}, [](scene& all) -> left {
        all.send_order();
        EXPECT_TRUE(all.behind().has_stalled());
        all.lock_record();
        all.behind().go_on();
        EXPECT_TRUE(all.waits("SET state = 1"));
        all.kill_first();
        all.unlock_after_ending_statements();
        return {.orders = 1};
    });
}

// Stored, and nobody who knew is alive: the repeat gets the answer that the first never got.
TEST(GatewayKilled, CompletedAndTheAnswerNotSent) {
    for_each_policy({.at = stall::working}, [](scene& all) -> left {
        all.send_order();
        EXPECT_TRUE(all.behind().has_stalled());
        all.lock_record();
        all.behind().go_on();
        EXPECT_TRUE(all.waits("SET state = 1"));
        EXPECT_TRUE(all.client().hears_nothing_for(50)); // not before the record is durable
        all.kill_first();
        EXPECT_EQ(all.client().receive().status, 0);
        all.unlock();
        return {.record = "succeeded", .orders = 1};
    });
}

TEST(GatewayKilled, CompletedAndTheAnswerUnread) {
    for_each_policy({}, [](scene& all) -> left {
        all.send_order();
        EXPECT_TRUE(all.is_completed());
        all.kill_first();
        return {.record = "succeeded", .orders = 1};
    });
}

} // namespace
} // namespace semel::e2e
