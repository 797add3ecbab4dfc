// What the handlers make of a message, on a scripted connection and a store in memory.
#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>

#include "consumer/loop.hpp"
#include "semel/consumer.hpp"
#include "semel/store/memory.hpp"
#include "support/scripted_transaction.hpp"

namespace semel::consumer {
namespace {

using kind = disposal::kind;

constexpr std::uint32_t attempts_max = 3;

received message_of(std::string id, std::uint32_t deliveries = 1) {
    return {.event = {.id = std::move(id), .topic = "orders"}, .deliveries = deliveries};
}

class Handlers : public testing::Test {
protected:
    handler transacting() {
        return in_transaction(
            engine_, scope_, [this]() -> transaction& { return port_; }, counting());
    }
    handler batching() { return once_each(engine_, scope_, counting()); }

    handled one(handler& with, const received& message) {
        return with({&message, 1}, attempts_max).front();
    }
    static kind disposed(const handled& of, const received& message) {
        return dispose(of, message, {.attempts_max = attempts_max}).what;
    }
    work counting() {
        return [this](const received&, execution&) {
            ++runs_;
            if (failing_) throw std::runtime_error{"down"};
        };
    }

    const request scope_{.tenant = "acme", .operation = "BILL"};
    engine engine_{open_memory_store(), {}, {.log = null_logger()}};
    support::scripted_database database_;
    support::scripted_transaction port_{database_};
    bool failing_ = false;
    int runs_ = 0;
};

// Bytes that nobody has sealed.
record damaged() {
    record made{.state = record_state::succeeded, .holder = {.fence = 1}};
    made.result.body = "damaged";
    made.expires_at = time_point::max();
    return made;
}

TEST_F(Handlers, ACommitThatIsRefusedForWhatTheWorkDidCountsAsAFailure) {
    auto handle = transacting();
    const failure refused{.code = errc::internal, .detail = "a constraint failed"};
    port_.fail({.nth = 3, .why = refused});
    const auto last = message_of("e-1", attempts_max);

    const auto got = one(handle, last);

    EXPECT_EQ(runs_, 1);
    EXPECT_EQ(got.how, consumed::failed);
    EXPECT_EQ(got.attempts, attempts_max);
    EXPECT_EQ(got.error, describe(refused));
    EXPECT_EQ(disposed(got, last), kind::park);
}

TEST_F(Handlers, WorkThatEndsItsTransactionCountsAsAFailure) {
    auto handle = in_transaction(
        engine_, scope_, [this]() -> transaction& { return port_; },
        [this](const received&, execution&) { port_.user_rolls_back(); });

    const auto got = one(handle, message_of("e-1"));

    EXPECT_EQ(got.how, consumed::failed);
    EXPECT_EQ(got.attempts, 1U);
    EXPECT_NE(got.error, "");
}

TEST_F(Handlers, WhatTheStoreItselfLacksIsNoFailureOfTheMessage) {
    for (const auto code : {errc::unavailable, errc::timed_out, errc::overloaded, errc::no_space,
                            errc::stopped, errc::read_only, errc::schema_missing}) {
        SCOPED_TRACE(name(code));
        for (const std::size_t nth : {1U, 3U}) { // before the work, and at its commit
            support::scripted_transaction port{database_};
            port.fail({.nth = nth, .why = {.code = code}});
            auto handle = in_transaction(
                engine_, scope_, [&]() -> transaction& { return port; },
                [](const received&, execution&) {});

            const auto got = one(handle, message_of("e-1"));

            EXPECT_EQ(got.how, consumed::unavailable);
        }
    }
}

TEST_F(Handlers, ARecordThatCannotBeReadParksItsMessageInTheEnd) {
    auto handle = transacting();
    database_.records[{.tenant = "acme", .operation = "BILL", .key = "e-1"}] = damaged();
    const auto first = message_of("e-1");
    const auto last = message_of("e-1", attempts_max);

    const auto early = one(handle, first);
    const auto late = one(handle, last);

    EXPECT_EQ(runs_, 0);
    EXPECT_EQ(early.how, consumed::failed);
    EXPECT_EQ(disposed(early, first), kind::again);
    EXPECT_EQ(disposed(late, last), kind::park);
    EXPECT_NE(late.error, "");
}

TEST_F(Handlers, ABatchParksAMessageWhoseRecordFailsItsChecksum) {
    auto handle = batching();
    const record_id id{.tenant = "acme", .operation = "BILL", .key = "e-1"};
    const commands::begin begun{.owner = {.low = 7}, .lease = std::chrono::seconds{30}};
    const auto started = engine_.records().call(id, begun).value();
    const commands::complete unsealed{.by = std::get<answers::started>(started.said).by,
                                      .result = damaged().result,
                                      .retention = std::chrono::hours{1}};
    ASSERT_TRUE(engine_.records().call(id, unsealed));
    const received both[] = {message_of("e-1"), message_of("e-2")};

    const auto got = handle(both, attempts_max);

    EXPECT_EQ(got[0].how, consumed::failed);
    EXPECT_EQ(disposed(got[0], both[0]), kind::park);
    EXPECT_NE(got[0].error, "");
    EXPECT_EQ(got[1].how, consumed::executed);
    EXPECT_EQ(engine_.counters().unavailable, 1U);
}

TEST_F(Handlers, ACopyInTheSameBatchFailsAsTheFirstOneDid) {
    auto handle = batching();
    failing_ = true;
    const received both[] = {message_of("e-1"), message_of("e-1")};

    const auto got = handle(both, attempts_max);

    EXPECT_EQ(runs_, 1);
    for (const auto& copy : got) {
        EXPECT_EQ(copy.how, consumed::failed);
        EXPECT_EQ(copy.attempts, 1U);
        EXPECT_EQ(copy.error, "down");
        EXPECT_EQ(disposed(copy, both[0]), kind::again);
    }
}

TEST_F(Handlers, AMessageOfTheSameBatchThatWillNeverBeRunIsParkedWithItsCopy) {
    engine strict{
        open_memory_store(), {.on_exception = exception_class::final}, {.log = null_logger()}};
    auto handle = once_each(strict, scope_, counting());
    failing_ = true;
    const received both[] = {message_of("e-1"), message_of("e-1")};
    handle({both, 1}, attempts_max);

    const auto got = handle(both, attempts_max);

    EXPECT_EQ(runs_, 1);
    for (const auto& copy : got) EXPECT_EQ(disposed(copy, both[0]), kind::park);
}

TEST_F(Handlers, WhatWasExecutedLongAgoIsNotParkedHoweverOftenItComes) {
    auto handle = transacting();
    ASSERT_EQ(one(handle, message_of("e-1")).how, consumed::executed);
    const auto late = message_of("e-1", attempts_max + 1);

    const auto got = one(handle, late);

    EXPECT_EQ(got.how, consumed::duplicate);
    EXPECT_EQ(disposed(got, late), kind::acknowledge);
    EXPECT_EQ(runs_, 1);
}

TEST_F(Handlers, WhatSomebodyElseIsRunningIsNotParkedHoweverOftenItComes) {
    auto handle = transacting();
    port_.fail({.nth = 1, .why = {.code = errc::conflict}}); // the key is locked
    const auto late = message_of("e-1", attempts_max + 1);

    const auto got = one(handle, late);

    EXPECT_EQ(got.how, consumed::in_progress);
    EXPECT_EQ(disposed(got, late), kind::again);
}

TEST_F(Handlers, AMessageThatKeepsKillingIsNotRunInATransactionEither) {
    auto handle = transacting();
    const auto late = message_of("e-1", attempts_max + 1);

    const auto got = one(handle, late);

    EXPECT_EQ(runs_, 0);
    EXPECT_EQ(got.attempts, attempts_max + 1);
    EXPECT_EQ(got.error, "has been begun too often without an end");
    EXPECT_EQ(disposed(got, late), kind::park);
    EXPECT_FALSE(port_.open());
}

} // namespace
} // namespace semel::consumer
