// The end-to-end proof: requests with repeats go in at one end, every process on the way is killed
// over and over and the broker too, and at the other end there is one effect for each request.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "e2e/chain.hpp"
#include "e2e/crowd.hpp"
#include "e2e/length.hpp"

namespace semel::e2e {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;
using messaging_test::broker_kind;

// Empty if they are the same.
std::string difference(const std::vector<std::string>& expected,
                       const std::vector<std::string>& found) {
    const auto [one, other] =
        std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
    const auto shown = [](auto at, auto end) { return at == end ? std::string{"nothing"} : *at; };
    if (one == expected.end() && other == found.end()) return {};
    return std::to_string(expected.size()) + " were expected, " + std::to_string(found.size()) +
           " found; first difference: " + shown(one, expected.end()) + " / " +
           shown(other, found.end());
}

class Chain : public testing::TestWithParam<links> {
protected:
    static bool is_first() {
        return GetParam().broker == broker_kind::redis && GetParam().database == "postgres";
    }

    // All the steps taken so far, of requests and effects, out of `goal()`.
    int progress(const crowd& clients) {
        return clients.answered() + all_.billing().count() + all_.mailing().count();
    }
    int goal(const crowd& clients) const { return clients.sends() + 2 * (requests_ - 1); }

    bool reaches(const crowd& clients, int wanted) {
        while (progress(clients) < wanted) {
            if (clock::now() > deadline_) return false;
            std::this_thread::sleep_for(10ms);
        }
        return true;
    }

    // Kills every process in turn, each turn in another order, and the broker between the turns; by
    // the progress that is made, so that kills are spread over it however fast the machine is.
    bool kill_until_done(const crowd& clients) {
        const int turns = std::clamp(requests_ / 300, 5, 100);
        const int parts = turns * static_cast<int>(all_.processes().size() + 1);
        const int step = goal(clients) / parts;
        int wanted = 0;
        for (int turn = 0; turn < turns; ++turn) {
            std::vector<child*> victims{nullptr}; // the broker
            for (child& one : all_.processes()) victims.push_back(&one);
            std::shuffle(victims.begin(), victims.end(), dice_);
            for (child* const victim : victims) {
                wanted += step;
                if (!reaches(clients, wanted - static_cast<int>(dice_() % 40))) return false;
                victim == nullptr ? all_.broker().restart() : kill(*victim);
                ++kills_;
            }
        }
        return reaches(clients, goal(clients));
    }

    void kill(child& one) {
        EXPECT_TRUE(one.kill()) << one.name() << " had ended by itself";
        std::this_thread::sleep_for(std::chrono::milliseconds{dice_() % 200}); // away for a while
        one.start();
    }

    bool holds_in_time(const std::function<bool()>& what) const {
        while (!what()) {
            if (clock::now() > deadline_) return false;
            std::this_thread::sleep_for(10ms);
        }
        return true;
    }

    // Repeats may still be on their way. One more order in peace: when it has its effects, all that
    // lay before it in the stream has been read.
    void expect_quiet(std::vector<std::string>& told) {
        EXPECT_TRUE(holds_in_time([&] { return all_.events_waiting() == 0; }));
        crowd last{all_.gateways(), requests_ - 1, requests_, 2};
        const std::string key = order_key(requests_ - 1);
        EXPECT_TRUE(
            holds_in_time([&] { return all_.billing().has(key) && all_.mailing().has(key); }));
        EXPECT_TRUE(holds_in_time([&] { return all_.broker().unacknowledged() == 0; }));
        EXPECT_TRUE(holds_in_time([&] { return last.answered() == last.sends(); }));
        for (const std::string& one : last.ledger()) told.push_back(one);
        std::sort(told.begin(), told.end());
    }

    void expect_one_each(const std::vector<std::string>& told) {
        EXPECT_EQ(static_cast<int>(told.size()), requests_);
        EXPECT_EQ(difference(told, all_.orders()), "");
        EXPECT_EQ(difference(told, all_.billing().ledger()), "");
        EXPECT_EQ(difference(told, all_.mailing().ledger()), "");
        EXPECT_EQ(all_.broker().dead_letters().size(), 0U);
    }

    void report(const crowd& clients, clock::duration took) {
        const int again = all_.mailing().runs() - requests_;
        std::printf(
            "%d orders, %d clients' sends, %d tries, %d kills, %d mails tried again, %d s\n",
            requests_, clients.sends(), clients.tries(), kills_, again,
            static_cast<int>(std::chrono::duration_cast<std::chrono::seconds>(took).count()));
        RecordProperty("requests", requests_);
        RecordProperty("kills", kills_);
        RecordProperty("tries", clients.tries());
    }

    // The others differ in one link: a third of it is enough for them.
    const int requests_ = requests_wanted() / (is_first() ? 1 : 3);
    // Several times what a busy machine needs.
    const clock::time_point deadline_ = clock::now() + 120s + requests_ * 40ms;
    std::mt19937 dice_{42};
    int kills_ = 0;
    chain all_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Redis, Chain, testing::Values(links{broker_kind::redis, "postgres"}));
INSTANTIATE_TEST_SUITE_P(Nats, Chain, testing::Values(links{broker_kind::nats, "postgres"}));
INSTANTIATE_TEST_SUITE_P(Mysql, Chain, testing::Values(links{broker_kind::redis, "mysql"}));

TEST_P(Chain, EveryRequestHasOneEffectWhateverIsKilled) {
    const auto start = clock::now();
    crowd clients{all_.gateways(), 0, requests_ - 1, 12};

    EXPECT_TRUE(kill_until_done(clients)) << progress(clients) << " of " << goal(clients);

    if (HasFailure()) clients.give_up();
    clients.wait();
    std::vector<std::string> told = clients.ledger();
    expect_quiet(told);
    EXPECT_EQ(all_.stop(), "");
    EXPECT_EQ(clients.contradicted(), 0);
    EXPECT_EQ(clients.answered(), clients.sends());
    expect_one_each(told);
    report(clients, clock::now() - start);
}

} // namespace
} // namespace semel::e2e
