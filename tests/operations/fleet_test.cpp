// Three reconcilers and three sweepers at once, each with connections of its own: every record is
// settled once, nothing live or in doubt goes, and nobody reports a deadlock.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <map>
#include <mutex>
#include <sstream>
#include <thread>

#include "semel/open.hpp"
#include "semel/operations.hpp"
#include "support/mysql_server.hpp"
#include "support/postgres_server.hpp"

namespace semel::operations {
namespace {

using namespace std::chrono_literals;

constexpr int instances = 3;
constexpr int stuck = 300;
constexpr int held = 50;
constexpr int live = 200;
constexpr int expired = 1'000;

record_id id_of(std::string operation, int number) {
    return {.tenant = "acme", .operation = std::move(operation), .key = std::to_string(number)};
}

// What the instances share, as the service they ask would.
class bank {
public:
    probe_answer ask(const found_record& about) {
        const std::lock_guard lock{mutex_};
        ++asked_[about.id.key];
        return probes::committed{{.body = "paid " + about.id.key}};
    }
    std::map<std::string, int> asked() {
        const std::lock_guard lock{mutex_};
        return asked_;
    }

private:
    std::mutex mutex_;
    std::map<std::string, int> asked_; // guarded by mutex_
};

template <class Prefix> class Fleet : public ::testing::Test {
protected:
    void SetUp() override {
        ASSERT_TRUE(migrate(prefix_.url(), migrate_mode::run));
        store_ = open_one();
        now_ = call(id_of("NONE", 0), commands::lookup{}).now;
    }

    std::unique_ptr<store> open_one() { return open_store(prefix_.url() + "&lanes=2").value(); }
    reply call(const record_id& id, command what, std::optional<time_point> at = {}) {
        return store_->call(id, std::move(what), at).value();
    }
    // All of an operation at once, waited for. What `make` gives for each number.
    std::vector<reply> call_all(const std::string& operation, int count, time_point at,
                                const std::function<command(int)>& make) {
        std::vector<reply> got(static_cast<std::size_t>(count));
        std::latch left{count};
        std::vector<submission> many;
        for (int i = 0; i < count; ++i) {
            many.push_back({.what = {.id = id_of(operation, i), .what = make(i), .now = at},
                            .done = [&, i](result<reply> one) {
                                if (one) got[static_cast<std::size_t>(i)] = *std::move(one);
                                left.count_down();
                            }});
        }
        store_->submit_all(std::move(many));
        left.wait();
        return got;
    }
    std::vector<reply> begin_all(const std::string& operation, int count, lease_expiry policy,
                                 time_point at, duration lease) {
        return call_all(operation, count, at, [&](int) -> command {
            return commands::begin{
                .owner = {1, 1}, .lease = lease, .policy = {.on_lease_expiry = policy}};
        });
    }
    void fill() {
        begin_all("PAY", stuck, lease_expiry::probe, now_ - 1h, 30s);
        begin_all("HELD", held, lease_expiry::hold, now_ - 1h, 30s);
        begin_all("LIVE", live, lease_expiry::retry, now_, 1h);
        const auto old = begin_all("OLD", expired, lease_expiry::retry, now_ - 2h, 30s);
        call_all("OLD", expired, now_ - 2h, [&](int i) -> command {
            const auto& begun = old[static_cast<std::size_t>(i)].said;
            return commands::complete{.by = std::get<answers::started>(begun).by, .retention = 1h};
        });
    }

    reconciler_options options(std::shared_ptr<logger> log) {
        return {
            .operations = {{"PAY",
                            {.probe = [this](const found_record& one) { return bank_.ask(one); }}}},
            .log = std::move(log)};
    }
    void reconcile(store& on, const std::shared_ptr<logger>& log) {
        reconciler settles{on, options(log)};
        for (int i = 0; i < 3; ++i) {
            const auto did = settles.pass();
            ASSERT_TRUE(did) << describe(did.error());
            EXPECT_EQ(did->failures, 0);
        }
    }
    void sweep(store& on) {
        for (bool more = true; more;) {
            const auto did = on.sweep({.records_max = 100});
            ASSERT_TRUE(did) << describe(did.error());
            removed_ += static_cast<int>(did->removed);
            more = did->state == sweep_state::more;
        }
    }
    void run_all(const std::shared_ptr<logger>& log) {
        std::vector<std::unique_ptr<store>> stores;
        for (int i = 0; i < 2 * instances; ++i) stores.push_back(open_one());
        std::latch ready{2 * instances};
        std::vector<std::jthread> all;
        for (int i = 0; i < 2 * instances; ++i) {
            all.emplace_back([&, i] {
                ready.arrive_and_wait();
                if (i % 2 == 0) return reconcile(*stores[static_cast<std::size_t>(i)], log);
                sweep(*stores[static_cast<std::size_t>(i)]);
            });
        }
    }

    Prefix prefix_;
    std::unique_ptr<store> store_;
    time_point now_ = {};
    bank bank_;
    std::atomic<int> removed_ = 0;
};

template <testing_support::mysql_kind Kind> struct prefix_on : testing_support::mysql_prefix {
    prefix_on() : mysql_prefix(Kind) {}
};
using databases = ::testing::Types<testing_support::postgres_prefix,
                                   prefix_on<testing_support::mysql_kind::mariadb>,
                                   prefix_on<testing_support::mysql_kind::mysql>>;
TYPED_TEST_SUITE(Fleet, databases);

TYPED_TEST(Fleet, EachRecordIsSettledOnceAndNothingElseGoes) {
    this->fill();
    std::ostringstream lines;
    const auto log = open_spdlog_logger({.level = log_level::debug, .to = &lines});

    this->run_all(log);

    const auto asked = this->bank_.asked();
    EXPECT_EQ(asked.size(), stuck);
    for (int i = 0; i < stuck; ++i) {
        const record_id id = id_of("PAY", i);
        const auto found = this->call(id, commands::lookup{});
        const auto& current = std::get<answers::found>(found.said).current;
        ASSERT_TRUE(current) << i;
        EXPECT_EQ(current->state, record_state::succeeded) << i;
        EXPECT_EQ(current->result.body, "paid " + id.key);
        EXPECT_EQ(asked.at(id.key), 1) << "asked once: " << i;
        EXPECT_EQ(this->store_->audit(id).value().size(), 1) << i;
    }
    for (int i = 0; i < held; ++i) {
        const auto found = this->call(id_of("HELD", i), commands::lookup{});
        EXPECT_TRUE(std::get<answers::found>(found.said).current) << i;
    }
    for (int i = 0; i < live; ++i) {
        const auto found = this->call(id_of("LIVE", i), commands::lookup{});
        EXPECT_TRUE(std::get<answers::found>(found.said).current) << i;
    }
    EXPECT_GE(this->removed_, expired) << "and claims of the reconcilers";
    EXPECT_THAT(lines.str(), ::testing::Not(::testing::HasSubstr("deadlock")));
    EXPECT_THAT(lines.str(), ::testing::Not(::testing::HasSubstr("did not answer")));
}

} // namespace
} // namespace semel::operations
