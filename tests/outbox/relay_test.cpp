// A relay in this process, on each of the three databases.
#include <gmock/gmock.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <future>
#include <set>
#include <sstream>
#include <thread>

#include "outbox/places.hpp"
#include "outbox/sinks.hpp"

namespace semel::outbox {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto patience = 60s;

// Until it holds, or the patience is over.
template <class Condition> bool eventually(const Condition& holds) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        std::this_thread::sleep_for(2ms);
    }
    return true;
}

std::string condition(claim_range which, const std::string& now) {
    const std::string lapsed = "status = 1 AND next_retry_time = 0 AND lock_until <= " + now;
    switch (which) {
    case claim_range::fresh: return "status = 0 AND next_retry_time = 0";
    case claim_range::due: return "status = 0 AND next_retry_time BETWEEN 1 AND " + now;
    case claim_range::expired: return lapsed + " AND attempts < " + std::to_string(often);
    case claim_range::expired_often: break;
    }
    return lapsed + " AND attempts >= " + std::to_string(often);
}

// The oracle of the claims: SELECT ids, UPDATE, load, in SQL that all databases understand.
std::vector<message> claim_by_steps(place& at, const claim_request& asked) {
    const auto clock = std::chrono::system_clock::now().time_since_epoch();
    const auto micros = std::chrono::duration_cast<duration>(clock).count();
    const std::string now = std::to_string(micros);
    std::string ids = at.sql(
        "SELECT id FROM " + at.table_name() + " WHERE shard_id = " + std::to_string(asked.shard) +
        " AND " + condition(asked.range, now) + " AND id > " + std::to_string(asked.after) +
        " ORDER BY next_retry_time, lock_until, id LIMIT " + std::to_string(asked.rows_max));
    if (ids.empty()) return {};
    std::replace(ids.begin(), ids.end(), '\n', ',');
    std::array<char, 33> owner{};
    std::snprintf(owner.data(), owner.size(), "%016" PRIx64 "%016" PRIx64, asked.by.owner.high,
                  asked.by.owner.low);
    at.sql("UPDATE " + at.table_name() + " SET status = 1, attempts = attempts + 1, " +
           "next_retry_time = 0, lock_owner = " + at.owner_text(owner.data()) +
           ", lock_token = " + std::to_string(asked.by.token) + ", lock_time = " + now +
           ", lock_until = " + std::to_string(micros + asked.lease.count()) +
           ", updated_at = " + now + " WHERE id IN (" + ids + ")");
    const auto rows = at.open();
    std::set<std::int64_t> sorted;
    std::istringstream each{ids};
    for (std::string id; std::getline(each, id, ',');) sorted.insert(std::stoll(id));
    std::vector<message> claimed;
    for (const std::int64_t id : sorted) claimed.push_back(rows->show(id).value()->it);
    return claimed;
}

class OutboxRelay : public testing::TestWithParam<const char*> {
protected:
    [[nodiscard]] static relay_options until_empty() {
        return {.until = relay_until::empty, .workers = 1, .retry = {.first = 1ms, .last = 5ms}};
    }
    std::unique_ptr<relay> start(relay_options options, told_sink::judge says = {},
                                 table_options how = {}) {
        return open_relay({at_->opener(how)}, told_sinks(log_, std::move(says)), options).value();
    }
    relay_metrics drain(relay_options options, told_sink::judge says = {}, table_options how = {}) {
        const auto running = start(options, std::move(says), how);
        running->wait();
        return running->metrics();
    }

    const std::unique_ptr<place> at_ = make_place(GetParam());
    delivered_log log_;
};

INSTANTIATE_TEST_SUITE_P(All, OutboxRelay,
                         testing::Values("postgres", "mariadb", "mysql", "sqlite"));

TEST_P(OutboxRelay, AVeryLongErrorOfASinkIsCutAndKeepsNothingUp) {
    at_->fill(20);

    drain(until_empty(), [](const message& one) -> delivery {
        if (one.event.payload == "7") return {delivered::rejected, std::string(100'000, 'x')};
        return {delivered::yes};
    });

    EXPECT_EQ(log_.size(), 19U);
    const auto dead = at_->open()->list({}).value();
    ASSERT_EQ(dead.size(), 1U);
    EXPECT_EQ(dead[0].last_error, std::string(2'048, 'x'));
}

TEST_P(OutboxRelay, DeliversEveryEventOnceAndRemovesIt) {
    const auto ids = at_->fill(2'000);

    const auto counted = drain(until_empty());

    EXPECT_EQ(log_.ids(), (std::multiset<std::string>{ids.begin(), ids.end()}));
    EXPECT_EQ(at_->count(), "0");
    EXPECT_EQ(counted.delivered, 2'000U);
    EXPECT_EQ(counted.acked, 2'000U);
    EXPECT_EQ(counted.lost, 0U);
    EXPECT_EQ(counted.mismatched, 0U);
    EXPECT_EQ(log_.all().front().attempts, 1);
}

TEST_P(OutboxRelay, TheOracleClaimsEveryEventOnce) {
    const auto ids = at_->fill(700, 50, 0, 1);
    const auto rows = at_->open();
    std::multiset<std::string> seen;
    row_lock by{.owner = {0x1234567890abcdef, 2}};
    do {
        ++by.token;
        settlement last{.of = by};
        for (const message& one : claim_by_steps(*at_, {.by = by, .lease = 30s, .rows_max = 99})) {
            seen.insert(one.event.id);
            last.done.push_back(one.row);
        }
        EXPECT_EQ(rows->exchange(last, {}).value().done, last.done.size());
    } while (seen.size() < ids.size() && by.token < 20);

    EXPECT_EQ(seen, (std::multiset<std::string>{ids.begin(), ids.end()}));
    EXPECT_EQ(at_->count(), "0");
}

TEST_P(OutboxRelay, ClaimsTheRowsThatTheOracleClaims) {
    at_->fill(300, 50, 0, 2);
    at_->sql("UPDATE " + at_->table_name() + " SET next_retry_time = 5 WHERE id % 3 = 0");
    at_->sql("UPDATE " + at_->table_name() +
             " SET status = 1, lock_until = 7, attempts = id % 5 WHERE id % 3 = 1");
    const auto joined = at_->open();
    for (int i = 0; i < 4; ++i) {
        for (const std::int32_t shard : {0, 1}) {
            claim_request asked{.shard = shard,
                                .range = static_cast<claim_range>(i),
                                .by = {.owner = {1, 2}, .token = 3},
                                .lease = 30s,
                                .rows_max = 40};
            auto one = joined->exchange({}, asked).value();
            // As if it had not been, but for the attempts and what the range goes by.
            std::vector<std::int64_t> rows;
            for (const auto& it : one.claimed) rows.push_back(it.row);
            for (const auto row : rows) {
                const std::string was = i == 1   ? "status = 0, next_retry_time = 5, lock_until = 0"
                                        : i == 0 ? "status = 0, lock_until = 0"
                                                 : "lock_until = 7";
                at_->sql("UPDATE " + at_->table_name() + " SET attempts = attempts - 1, " + was +
                         " WHERE id = " + std::to_string(row));
            }
            const auto other = claim_by_steps(*at_, asked);

            EXPECT_FALSE(one.claimed.empty()) << i;
            ASSERT_EQ(one.claimed.size(), other.size()) << i;
            for (std::size_t k = 0; k < one.claimed.size(); ++k) {
                EXPECT_EQ(one.claimed[k].row, other[k].row);
                EXPECT_EQ(one.claimed[k].attempts, other[k].attempts);
                EXPECT_EQ(one.claimed[k].event, other[k].event);
            }
        }
    }
}

TEST_P(OutboxRelay, ArchivesInsteadWhereAskedTo) {
    at_->fill(100);

    drain(until_empty(), {}, {.ack = on_ack::archive});

    EXPECT_EQ(at_->count(), "0");
    EXPECT_EQ(at_->sql("SELECT count(*) FROM " + at_->prefix() + "outbox_archive"), "100");
}

TEST_P(OutboxRelay, TriesAgainLaterAndThenGivesUp) {
    at_->fill(20);
    const auto counted = drain(until_empty(), [](const message& one) -> delivery {
        if (one.event.payload == "7") return {delivered::later, "busy"};
        if (one.event.payload == "8") return {delivered::rejected, "never"};
        if (one.event.payload == "9" && one.attempts < 3) return {delivered::later, "not yet"};
        return {delivered::yes};
    });
    // What is not due yet is left to the next.
    EXPECT_TRUE(eventually([&] {
        drain(until_empty(), [](const message& one) -> delivery {
            if (one.event.payload == "7") return {delivered::later, "busy"};
            return {delivered::yes};
        });
        return at_->count("status <> 2") == "0";
    }));

    EXPECT_EQ(log_.size(), 18U);
    const auto dead = at_->open()->list({.status = row_status::dead}).value();
    ASSERT_EQ(dead.size(), 2U);
    EXPECT_EQ(dead[0].last_error, "busy");
    EXPECT_EQ(dead[0].it.attempts, 20);
    EXPECT_EQ(dead[1].last_error, "never");
    EXPECT_EQ(dead[1].it.attempts, 1);
    EXPECT_GE(counted.dead, 1U);
}

TEST_P(OutboxRelay, ADeadLetterThatIsRequeuedGoesOut) {
    at_->fill(3);
    drain(until_empty(), [](const message&) -> delivery { return {delivered::rejected, "no"}; });
    const auto desk = at_->open();
    const auto dead = desk->list({.status = row_status::dead}).value();
    ASSERT_EQ(dead.size(), 3U);
    const std::vector<std::int64_t> one{dead[0].it.row};
    const std::vector<std::int64_t> other{dead[1].it.row};

    EXPECT_EQ(desk->requeue(one).value(), 1U);
    EXPECT_EQ(desk->drop(other).value(), 1U);
    drain(until_empty());

    EXPECT_EQ(log_.size(), 1U);
    EXPECT_EQ(log_.all()[0].event.payload, dead[0].it.event.payload);
    EXPECT_EQ(desk->show(other[0]).value(), std::nullopt);
    EXPECT_EQ(at_->count(), "1");
    EXPECT_EQ(desk->requeue({}).value(), 1U) << "an empty list means all";
    EXPECT_EQ(desk->measure().value().waiting, 1U);
}

// The sink that crashes its relay: rows come back when the lease lapses, and not for ever.
TEST_P(OutboxRelay, ARowNobodyComesBackForIsADeadLetterInTheEnd) {
    at_->fill(5, 50, 0, 1);
    const auto crashes = at_->open();
    const auto claim_all = [&](claim_range range, std::size_t most) {
        return crashes
            ->exchange({}, claim_request{.shard = 0,
                                         .range = range,
                                         .by = {.owner = {1, 2}, .token = 3},
                                         .lease = duration{0},
                                         .rows_max = most})
            .value()
            .claimed;
    };
    ASSERT_EQ(claim_all(claim_range::fresh, 10).size(), 5U);
    ASSERT_EQ(claim_all(claim_range::expired, 10).size(), 5U);
    ASSERT_EQ(claim_all(claim_range::expired, 10).size(), 5U);
    // Claimed three times without an answer: from here on alone, so that the first suffers alone.
    EXPECT_TRUE(claim_all(claim_range::expired, 10).empty());
    for (int i = 0; i < 17; ++i) {
        ASSERT_EQ(claim_all(claim_range::expired_often, 1).size(), 1U);
        at_->sql("UPDATE " + at_->table_name() + " SET lock_until = 0 WHERE status = 1");
    }

    drain(until_empty());

    EXPECT_EQ(log_.size(), 4U);
    const auto dead = at_->open()->list({}).value();
    ASSERT_EQ(dead.size(), 1U);
    EXPECT_EQ(dead[0].status, row_status::dead);
    EXPECT_THAT(dead[0].last_error, HasSubstr("no relay came back"));
}

TEST_P(OutboxRelay, AnAckIsFencedByOwnerAndToken) {
    at_->fill(4, 50, 0, 1);
    const auto one = at_->open();
    const auto other = at_->open();
    const auto claim_as = [](std::int64_t token) {
        return claim_request{.shard = 0,
                             .by = {.owner = {1, 2}, .token = token},
                             .lease = duration{0},
                             .rows_max = 4};
    };
    const auto mine = one->exchange({}, claim_as(1)).value().claimed;
    auto again = claim_as(2);
    again.range = claim_range::expired;
    again.lease = 30s;
    ASSERT_EQ(other->exchange({}, again).value().claimed.size(), 4U);
    settlement late{.of = {.owner = {1, 2}, .token = 1}, .done = {mine[0].row}};
    late.back.push_back({.row = mine[1].row, .as = row_status::dead, .error = "late"});

    const auto got = one->exchange(late, {}).value();
    const std::vector<std::int64_t> rows{mine[2].row};

    EXPECT_EQ(got.done, 0U);
    EXPECT_EQ(got.back, 0U);
    EXPECT_EQ(one->renew(late.of, rows, 30s).value(), 0U);
    EXPECT_EQ(other->renew({.owner = {1, 2}, .token = 2}, rows, 30s).value(), 1U);
    EXPECT_EQ(at_->count("status = 1"), "4");
}

TEST_P(OutboxRelay, GivesBackWhatItHasNotStartedWhenItStops) {
    at_->fill(100, 50, 0, 1);
    std::promise<void> begun;
    std::promise<void> go_on;
    std::atomic<int> got = 0;
    const auto says = [&, waits = go_on.get_future().share()](const message&) -> delivery {
        if (++got == 1) {
            begun.set_value();
            waits.wait();
        }
        return {delivered::yes};
    };
    auto running = start({.workers = 1, .batch = 100, .sink_batch = 10}, says);
    begun.get_future().wait();

    std::thread stopping{[&] { running->stop(); }};
    // The stop is known before the sink goes on: then one slice is delivered, and no more.
    std::this_thread::sleep_for(50ms);
    go_on.set_value();
    stopping.join();

    EXPECT_EQ(log_.size(), 10U);
    EXPECT_EQ(at_->count("status = 0 AND attempts = 0 AND lock_until = 0"), "90");
    EXPECT_EQ(running->metrics().returned, 90U);
}

TEST_P(OutboxRelay, ASlowSinkKeepsItsLease) {
    at_->fill(4, 50, 0, 1);
    auto slow = start({.workers = 1, .batch = 4, .sink_batch = 1, .lease = 400ms},
                      [](const message&) -> delivery {
                          std::this_thread::sleep_for(300ms);
                          return {delivered::yes};
                      });
    delivered_log other;
    auto idle = open_relay({at_->opener()}, told_sinks(other), {.workers = 1, .lease = 400ms});
    EXPECT_TRUE(eventually([&] { return at_->count() == "0"; }));
    slow->stop();
    (*idle)->stop();

    // Whoever claimed a row first has delivered it, and nobody else.
    EXPECT_EQ(log_.size() + other.size(), 4U);
    EXPECT_EQ(slow->metrics().lost, 0U);
}

TEST_P(OutboxRelay, ALowerRowThatCommitsLaterIsNotLost) {
    if (std::string{GetParam()} == "sqlite") return; // one writer at a time: it cannot happen
    const bool postgres = std::string{GetParam()} == "postgres";
    const auto other = std::string{GetParam()} == "mysql" ? testing_support::mysql_kind::mysql
                                                          : testing_support::mysql_kind::mariadb;
    // A second application, whose transaction stays open while later rows come and go.
    std::unique_ptr<testing_support::postgres_client> pg;
    std::unique_ptr<testing_support::mysql_client> my;
    std::unique_ptr<writer> in;
    if (postgres) {
        pg = std::make_unique<testing_support::postgres_client>();
        in = std::make_unique<postgres_writer>(pg->native(), at_->prefix());
    } else {
        my = std::make_unique<testing_support::mysql_client>(other);
        in = std::make_unique<mysql_writer>(my->native(), at_->prefix());
    }
    const auto run = [&](const char* sql) { return postgres ? pg->sql(sql) : my->sql(sql); };
    for (const auto mode : {relay_mode::parallel, relay_mode::ordered}) {
        delivered_log log;
        run("BEGIN");
        appender{{.shards = 1}}.append(*in, event{.topic = "t", .payload = "late"}).value();
        at_->fill(10, 50, 0, 1);
        auto running = open_relay({at_->opener()}, told_sinks(log),
                                  {.mode = mode, .workers = 1, .rescan = 200ms, .shards = 1})
                           .value();
        EXPECT_TRUE(eventually([&] { return log.size() == 10; }));
        run("COMMIT");
        EXPECT_TRUE(eventually([&] { return log.size() == 11; }));

        EXPECT_EQ(log.all().back().event.payload, "late");
        EXPECT_LT(log.all().back().row, log.all().front().row);
    }
}

TEST_P(OutboxRelay, IsWokenByAnAppendInItsOwnProcess) {
    const auto wake = std::make_shared<wake_signal>();
    auto running = start({.workers = 1, .poll_last = 60s, .wake = wake});
    std::this_thread::sleep_for(500ms); // by now it would sleep for long

    at_->append({{.topic = "t"}}, {.wake = wake});
    appender{{.wake = wake}}.committed();

    EXPECT_TRUE(eventually([&] { return log_.size() == 1; }));
}

TEST_P(OutboxRelay, ServesSeveralTables) {
    const auto other = make_place("sqlite");
    at_->fill(50);
    other->fill(50);
    const auto running =
        open_relay({at_->opener(), other->opener()}, told_sinks(log_), until_empty()).value();
    running->wait();

    EXPECT_EQ(log_.size(), 100U);
    EXPECT_EQ(at_->count(), "0");
    EXPECT_EQ(other->count(), "0");
}

TEST(OutboxOpen, SaysWhatIsWrong) {
    EXPECT_EQ(open_table("memory:").error().code, errc::unsupported);
    EXPECT_EQ(open_table("oracle:x").error().code, errc::unknown_store);
    EXPECT_EQ(open_table("postgres://127.0.0.1:1/x").error().code, errc::unavailable);
    EXPECT_EQ(open_table("mysql://u@127.0.0.1:1/x").error().code, errc::unavailable);
    delivered_log log;
    const auto refused = open_relay({}, told_sinks(log));
    EXPECT_EQ(refused.error().code, errc::invalid_argument);
    const auto nowhere = [] { return open_table("memory:"); };
    const auto longest = duration::max() / 2;
    for (const relay_options& odd :
         {relay_options{.lease = longest}, relay_options{.rescan = longest},
          relay_options{.retry = {.first = 0s}}, relay_options{.retry = {.last = longest}}}) {
        EXPECT_EQ(open_relay({nowhere}, told_sinks(log), odd).error().code,
                  errc::invalid_argument); // and not what opening the table would say
    }
}

} // namespace
} // namespace semel::outbox
