// Transactions of callers who do not block: work that is started, and says later how it has ended.
#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "semel/engine.hpp"
#include "semel/store/memory.hpp"
#include "support/scripted_transaction.hpp"

namespace semel::tests {
namespace {

using ended = unique_function<void(work_end)>;

class StartedTransaction : public testing::Test {
protected:
    // The outcome, or nothing while the work is not over.
    void start(engine::started_work work) {
        detail::transaction_start{engine_, port_}(
            {.tenant = "acme", .operation = "PAY", .key = "k"}, std::move(work),
            [this](raw_outcome with) { out_ = std::move(with); });
    }
    work_end paid() {
        port_.effect();
        return answered_end{{.body = "7"}};
    }

    support::scripted_database database_;
    support::scripted_transaction port_{database_};
    engine engine_{open_memory_store()};
    std::optional<raw_outcome> out_;
};

TEST_F(StartedTransaction, WorkMayEndBeforeItHasBeenStarted) {
    start([&](execution&, ended done) { done(paid()); });

    ASSERT_TRUE(out_.has_value());
    EXPECT_EQ(out_->kind, outcome_kind::executed);
    EXPECT_EQ(database_.effects, 1);
}

TEST_F(StartedTransaction, NothingIsCommittedBeforeTheWorkHasEnded) {
    ended later;
    start([&](execution&, ended done) { later = std::move(done); });
    EXPECT_FALSE(out_.has_value());
    EXPECT_TRUE(port_.open());

    later(paid());

    ASSERT_TRUE(out_.has_value());
    EXPECT_EQ(out_->kind, outcome_kind::executed);
    EXPECT_EQ(database_.effects, 1);
    EXPECT_FALSE(port_.open());
}

TEST_F(StartedTransaction, WorkMayEndOnAnotherThreadWhileItIsBeingStarted) {
    for (int i = 0; i < 200; ++i) {
        out_.reset();
        database_.records.clear();
        std::jthread other;
        start([&](execution&, ended done) {
            other = std::jthread{[this, done = std::move(done)]() mutable { done(paid()); }};
        });
        other.join();
        ASSERT_TRUE(out_.has_value());
        ASSERT_EQ(out_->kind, outcome_kind::executed);
    }
    EXPECT_EQ(database_.effects, 200);
}

TEST_F(StartedTransaction, WhatTheWorkThrowsIsItsEnd) {
    start([&](execution&, ended done) {
        port_.effect();
        done(threw_end{std::make_exception_ptr(std::runtime_error{"no"})});
    });

    ASSERT_TRUE(out_.has_value());
    EXPECT_TRUE(out_->thrown);
    EXPECT_EQ(database_.effects, 0);
    EXPECT_FALSE(port_.open());
}

TEST_F(StartedTransaction, WhatAnyoneElseThrowsIsAnOutcome) {
    port_.fail({.nth = 1, .thrown = std::make_exception_ptr(std::bad_alloc{})});

    start([&](execution&, ended done) { done(paid()); });

    ASSERT_TRUE(out_.has_value());
    EXPECT_EQ(out_->kind, outcome_kind::unavailable);
    EXPECT_EQ(out_->why->code, errc::internal);
    EXPECT_FALSE(port_.open());
}

TEST_F(StartedTransaction, WorkThatIsForgottenTakesItsTransactionAlong) {
    {
        ended forgotten;
        start([&](execution&, ended done) { forgotten = std::move(done); });
        ASSERT_TRUE(port_.open());
    }
    EXPECT_FALSE(out_.has_value());
    port_.rollback(); // the connection's owner closes it

    // Its key is not taken for one that is still being executed there.
    start([&](execution&, ended done) { done(paid()); });

    ASSERT_TRUE(out_.has_value());
    EXPECT_EQ(out_->kind, outcome_kind::executed);
}

TEST_F(StartedTransaction, WorkThatIsForgottenAtOnceTakesItsTransactionAlong) {
    start([](execution&, ended) {});

    EXPECT_FALSE(out_.has_value());
}

TEST_F(StartedTransaction, WorkThatCannotBeStartedIsRolledBack) {
    start([](execution&, ended) { throw std::bad_alloc{}; });

    ASSERT_TRUE(out_.has_value());
    EXPECT_EQ(out_->kind, outcome_kind::unavailable);
    EXPECT_EQ(out_->why->code, errc::internal);
    EXPECT_FALSE(port_.open());
}

TEST_F(StartedTransaction, TheSameKeyInItsOwnWorkIsRefused) {
    std::optional<raw_outcome> inner;
    start([&](execution&, ended done) {
        detail::transaction_start{engine_, port_, detail::transaction_owner::caller}(
            {.tenant = "acme", .operation = "PAY", .key = "k"},
            [](execution&, ended) { FAIL() << "it runs already"; },
            [&](raw_outcome with) { inner = std::move(with); });
        done(paid());
    });

    ASSERT_TRUE(inner.has_value());
    EXPECT_EQ(inner->why->code, errc::transaction_broken);
    EXPECT_EQ(out_->kind, outcome_kind::executed);
}

TEST_F(StartedTransaction, AConnectionThatBlocksIsRefused) {
    class blocking final : public support::scripted_port {
    public:
        using scripted_port::scripted_port;
        [[nodiscard]] bool suspends() const override { return false; }
    };
    class handle : public transaction {
    public:
        explicit handle(support::scripted_database& on)
            : transaction(std::make_unique<blocking>(on)) {}
    } on{database_};

    detail::transaction_start{engine_, on}(
        {.tenant = "acme", .operation = "PAY", .key = "k"},
        [](execution&, ended) { FAIL() << "it must not run"; },
        [this](raw_outcome with) { out_ = std::move(with); });

    EXPECT_EQ(out_->why->code, errc::unsupported);
}

} // namespace
} // namespace semel::tests
