// transact and execute_in on a scripted connection.
#include <algorithm>
#include <atomic>

#include "engine_fixture.hpp"
#include "support/scripted_transaction.hpp"

namespace semel::tests {
namespace {

using support::scripted_database;
using support::scripted_transaction;
using applies = scripted_transaction::applies;

class Transact : public engine_test {
protected:
    scripted_database database_;
    scripted_transaction port_{database_};

    auto paying() {
        return [this] {
            port_.effect();
            return "payment " + std::to_string(++runs_);
        };
    }
    std::optional<record> row(const request& what) {
        const auto found = database_.records.find(id_of(what));
        if (found == database_.records.end()) return std::nullopt;
        return found->second;
    }
    int runs_ = 0;
};

TEST_F(Transact, CommitsTheEffectAndItsRecordTogetherAndReplays) {
    auto& engine = make();

    const auto first = engine.transact<std::string>(port_, order("k", "a"), paying());
    const auto second = engine.transact<std::string>(port_, order("k", "a"), paying());

    EXPECT_TRUE(first.executed());
    EXPECT_TRUE(second.replayed());
    EXPECT_EQ(second.value(), "payment 1");
    EXPECT_EQ(database_.effects, 1);
    EXPECT_EQ(row(order("k"))->state, record_state::succeeded);
    EXPECT_EQ(engine.transact<std::string>(port_, order("k", "b"), paying()).kind(),
              outcome_kind::mismatch);
    EXPECT_FALSE(port_.open());
}

TEST_F(Transact, TheEnginesDestructorWaitsForOneOnAnotherThread) {
    auto& engine = make();
    gate begun;
    gate go_on;
    std::atomic<bool> committed = false;
    std::thread caller{[&] {
        const auto out = engine.transact<std::string>(port_, order("k"), [&] {
            begun.open();
            go_on.wait();
            return std::string{"paid"};
        });
        committed = out.executed() && !port_.open();
    }};
    begun.wait();
    std::atomic<bool> gone = false;
    std::thread closer{[&] {
        engine_.reset();
        gone = true;
    }};

    std::this_thread::sleep_for(50ms);
    EXPECT_FALSE(gone);
    go_on.open();
    closer.join();

    EXPECT_TRUE(row(order("k")).has_value());
    caller.join();
    EXPECT_TRUE(committed);
}

TEST_F(Transact, IsCountedAsUnderWay) {
    auto& engine = make();

    (void)engine.transact<std::string>(port_, order("k"), [&] {
        EXPECT_EQ(engine.counters().running, 1U);
        return std::string{"paid"};
    });

    EXPECT_EQ(engine.counters().running, 0U);
}

TEST_F(Transact, OneRecordWriteAndNoExtraCommit) {
    auto& engine = make();

    (void)engine.transact<std::string>(port_, order("k"), paying());

    EXPECT_EQ(port_.statements(), (std::vector<std::string>{"begin", "lock", "save", "commit"}));
    EXPECT_EQ(script_->questions(), 0U);
}

TEST_F(Transact, R_31_EveryStatementMayFailAndTheEffectTakesPlaceOnceAtMost) {
    const failure codes[] = {{.code = errc::unavailable},
                             {.code = errc::conflict},
                             {.code = errc::timed_out, .possible = effect::unknown}};
    for (const auto& why : codes) {
        for (std::size_t nth = 0; nth < 4; ++nth) {
            for (const auto commit : {applies::no, applies::yes}) {
                if (commit == applies::yes && why.possible == effect::none) continue;
                SCOPED_TRACE(std::to_string(nth) + ": " + describe(why));
                auto& engine = make();
                scripted_database database;
                scripted_transaction port{database};
                port.fail({.nth = nth, .why = why, .commit = commit});
                const auto work = [&] { return port.effect(), std::string{"paid"}; };

                const auto first = engine.transact<std::string>(port, order("k"), work);
                const bool there = database.records.contains(id_of(order("k")));
                EXPECT_EQ(database.effects, there ? 1 : 0);
                EXPECT_EQ(first.executed(), there);
                EXPECT_FALSE(port.open());

                EXPECT_EQ(engine.transact<std::string>(port, order("k"), work).value(), "paid");
                EXPECT_EQ(database.effects, 1);
            }
        }
    }
}

TEST_F(Transact, RepeatsTheWholeTransactionOnConflict) {
    auto& engine = make();
    port_.fail({.nth = 2, .why = {.code = errc::conflict}});

    const auto out = engine.transact<std::string>(port_, order("k"), paying());

    EXPECT_EQ(out.value(), "payment 2");
    EXPECT_EQ(database_.effects, 1);
}

TEST_F(Transact, ACommitInDoubtIsReadAgainAndAdopted) {
    auto& engine = make();
    const failure lost{.code = errc::unavailable, .possible = effect::unknown};
    port_.fail({.nth = 3, .why = lost, .commit = applies::yes});

    const auto out = engine.transact<std::string>(port_, order("k"), paying());

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(database_.effects, 1);
    EXPECT_EQ(runs_, 1);
}

TEST_F(Transact, ACommitInDoubtThatDidNotLandIsUnavailable) {
    auto& engine = make();
    const failure lost{.code = errc::unavailable, .possible = effect::unknown};
    port_.fail({.nth = 3, .why = lost, .commit = applies::no});

    const auto out = engine.transact<std::string>(port_, order("k"), paying());

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(out.why()->possible, effect::none);
    EXPECT_EQ(database_.effects, 0);
}

TEST_F(Transact, RollsBackWorkThatThrowsAndKeepsNothingThatMayBeRetried) {
    auto& engine = make();
    const auto failing = [&] {
        port_.effect();
        throw std::domain_error{"card refused"};
    };

    EXPECT_THROW((void)engine.transact<void>(port_, order("k"), failing), std::domain_error);

    EXPECT_EQ(database_.effects, 0);
    EXPECT_FALSE(row(order("k")).has_value());
    EXPECT_FALSE(port_.open());
}

TEST_F(Transact, KeepsAFinalFailureInATransactionOfItsOwn) {
    auto& engine = make({.on_exception = exception_class::final});
    const auto failing = [&] {
        port_.effect();
        throw std::domain_error{"card refused"};
    };

    EXPECT_THROW((void)engine.transact<void>(port_, order("k"), failing), std::domain_error);
    const auto second = engine.transact<void>(port_, order("k"), failing);

    EXPECT_EQ(second.kind(), outcome_kind::failed);
    EXPECT_EQ(second.error(), "card refused");
    EXPECT_EQ(database_.effects, 0);
}

TEST_F(Transact, RollsBackForRetryLaterAndUnknown) {
    auto& engine = make();
    const auto later = [&]() -> verdict<void> {
        port_.effect();
        return retry_later("no", 1s);
    };
    const auto untold = [&]() -> verdict<void> {
        port_.effect();
        return unknown();
    };

    EXPECT_EQ(engine.transact<void>(port_, order("a"), later).kind(), outcome_kind::failed);
    EXPECT_EQ(engine.transact<void>(port_, order("b"), untold).kind(), outcome_kind::in_doubt);

    EXPECT_EQ(database_.effects, 0);
    EXPECT_TRUE(database_.records.empty());
}

TEST_F(Transact, NoticesWorkThatEndedTheTransaction) {
    auto& engine = make();

    const auto out = engine.transact<void>(port_, order("k"), [&] {
        port_.user_rolls_back();
        port_.user_begins();
        port_.effect();
    });

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(out.why()->code, errc::transaction_broken);
    EXPECT_EQ(database_.effects, 0);
    EXPECT_TRUE(database_.records.empty());
}

TEST_F(Transact, RefusesTheSameKeyInsideItself) {
    auto& engine = make();
    outcome_kind inner = outcome_kind::executed;

    const auto outer = engine.transact<void>(port_, order("k"), [&] {
        inner = engine.execute_in<void>(port_, order("k"), [] { ADD_FAILURE(); }).kind();
    });

    EXPECT_TRUE(outer.executed());
    EXPECT_EQ(inner, outcome_kind::unavailable);
}

TEST_F(Transact, JoinsAnotherKeyInsideItself) {
    auto& engine = make();

    const auto outer = engine.transact<std::string>(port_, order("k"), [&](execution& run) {
        return engine.execute_in<std::string>(port_, order(run.child_key("x")), paying()).value();
    });

    EXPECT_EQ(outer.value(), "payment 1");
    EXPECT_EQ(database_.records.size(), 2U);
    EXPECT_EQ(database_.effects, 1);
}

TEST_F(Transact, AnswersInProgressWhereTheKeyIsLockedAndTheCallerDoesNotWait) {
    auto& engine = make({.wait = wait_mode::answer});
    port_.fail({.nth = 1, .why = {.code = errc::conflict}});

    const auto out = engine.transact<std::string>(port_, order("k"), paying());

    EXPECT_TRUE(out.in_progress());
    EXPECT_EQ(port_.wanted(), on_locked::answer);
    EXPECT_EQ(runs_, 0);
}

TEST_F(Transact, GivesUpAfterAFewConflicts) {
    auto& engine = make();
    int tries = 0;

    const auto out = engine.transact<void>(port_, order("k"), [&] {
        ++tries;
        record other{.holder = {.fence = static_cast<std::uint64_t>(tries)}};
        other.state = record_state::failed_retryable;
        database_.records[id_of(order("k"))] = other; // somebody was faster
    });

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(out.why()->code, errc::conflict);
    EXPECT_EQ(tries, 5);
}

TEST_F(Transact, RunsAStepOnceInOneTransaction) {
    auto& engine = make();
    int steps = 0;

    (void)engine.transact<void>(port_, order("k"), [&](execution& run) {
        run.step("s", [&] { ++steps; });
        run.step("s", [&] { ++steps; });
    });

    EXPECT_EQ(steps, 1);
}

TEST_F(Transact, JoinsTheCallersTransactionAndNeverCommitsIt) {
    auto& engine = make();
    ASSERT_TRUE(port_.begin());

    const auto out = engine.execute_in<std::string>(port_, order("k"), paying());

    EXPECT_TRUE(out.executed());
    EXPECT_TRUE(port_.open());
    EXPECT_TRUE(database_.records.empty());
    ASSERT_TRUE(port_.commit());
    EXPECT_EQ(database_.effects, 1);
    EXPECT_EQ(row(order("k"))->state, record_state::succeeded);
}

TEST_F(Transact, RefusesToJoinWhereThereIsNoTransaction) {
    auto& engine = make();

    const auto out = engine.execute_in<std::string>(port_, order("k"), paying());

    EXPECT_EQ(out.why()->code, errc::invalid_argument);
    EXPECT_EQ(runs_, 0);
}

TEST_F(Transact, EveryStatementOfAJoinedTransactionMayFail) {
    for (std::size_t nth = 0; nth < 3; ++nth) {
        auto& engine = make();
        scripted_database database;
        scripted_transaction port{database};
        port.user_begins();
        port.fail({.nth = nth});

        const auto out = engine.execute_in<void>(port, order("k"), [&] { port.effect(); });
        EXPECT_EQ(out.kind(), outcome_kind::unavailable);
        port.rollback();

        EXPECT_EQ(database.effects, 0);
        EXPECT_TRUE(database.records.empty());
    }
}

TEST_F(Transact, TakesATemporaryConnection) {
    auto& engine = make();

    const auto out = engine.transact<void>(scripted_transaction{database_}, order("k"), [] {});

    EXPECT_TRUE(out.executed());
}

TEST_F(Transact, BadInputIsNamedBeforeTheFirstStatement) {
    auto& engine = make();

    EXPECT_EQ(engine.transact<void>(port_, order(""), [] {}).why()->code, errc::invalid_argument);
    EXPECT_EQ(engine.execute_in<void>(port_, order(std::string(256, 'x')), [] {}).why()->code,
              errc::limit_exceeded);

    EXPECT_TRUE(port_.statements().empty());
}

TEST_F(Transact, RollsBackWhereSomethingThrowsThatIsNotTheWork) {
    auto& engine = make();
    port_.fail({.nth = 2, .thrown = std::make_exception_ptr(std::bad_alloc{})});

    const auto out = engine.transact<std::string>(port_, order("k"), paying());

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(out.why()->code, errc::internal);
    EXPECT_EQ(out.why()->possible, effect::none);
    EXPECT_FALSE(port_.open());
    EXPECT_TRUE(engine.transact<std::string>(port_, order("k"), paying()).executed());
    EXPECT_EQ(database_.effects, 1);
}

TEST_F(Transact, RollsBackWhereTheClassifierThrows) {
    auto& engine = make({.failures = {{.matches = [](const std::exception_ptr&) -> bool {
                             throw std::runtime_error{"confused"};
                         }}}});
    const auto failing = [&] { throw std::domain_error{"card refused"}; };

    EXPECT_THROW((void)engine.transact<void>(port_, order("k"), failing), std::domain_error);

    EXPECT_FALSE(port_.open());
}

TEST_F(Transact, WorkMayTakeTheConnectionOfItsHandle) {
    auto& engine = make();

    const auto both = engine.transact<void>(
        port_, order("a"), [](execution&, support::scripted_port& on) { on.effect(); });
    const auto alone =
        engine.transact<void>(port_, order("b"), [](support::scripted_port& on) { on.effect(); });

    EXPECT_TRUE(both.executed());
    EXPECT_TRUE(alone.executed());
    EXPECT_EQ(database_.effects, 2);
}

TEST_F(Transact, AHandleMayBeMovedAndKeptAsAnyOther) {
    auto& engine = make();
    transaction kept = std::move(port_);

    EXPECT_TRUE(engine.transact<void>(kept, order("k"), [] {}).executed());
}

TEST_F(Transact, RefusesAConnectionThatDoesNotBlock) {
    class suspending final : public support::scripted_port {
    public:
        using scripted_port::scripted_port;
        [[nodiscard]] bool blocks() const override { return false; }
    };
    class handle : public transaction {
    public:
        explicit handle(scripted_database& on) : transaction(std::make_unique<suspending>(on)) {}
    };
    auto& engine = make();

    const auto out = engine.transact<void>(handle{database_}, order("k"), [] { ADD_FAILURE(); });

    EXPECT_EQ(out.why()->code, errc::unsupported);
}

// What a type cannot do is an error where it is compiled.
class only_suspends : public transaction {
public:
    static constexpr bool blocks = false;
};
class never_joins : public transaction {
public:
    static constexpr bool joins = false;
};
constexpr auto no_work = [] {};
template <class Handle>
concept transacts = requires(engine& on, Handle& with) {
    on.transact<void>(with, request{}, no_work);
};
template <class Handle>
concept executes_in = requires(engine& on, Handle& with) {
    on.execute_in<void>(with, request{}, no_work);
};
static_assert(transacts<transaction> && executes_in<transaction>);
static_assert(!transacts<only_suspends> && !executes_in<only_suspends>);
static_assert(transacts<never_joins> && !executes_in<never_joins>);
static_assert(!transacts<int>);

} // namespace
} // namespace semel::tests
