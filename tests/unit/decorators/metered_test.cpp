#include <gtest/gtest.h>

#include <numeric>

#include "unit/decorators/watched_store.hpp"

namespace semel::testing {
namespace {

using namespace std::chrono_literals;

template <class Variant, class One> constexpr std::size_t index_of() {
    return []<std::size_t... I>(std::index_sequence<I...>) {
        return ((std::is_same_v<One, std::variant_alternative_t<I, Variant>> ? I : 0) + ...);
    }
    (std::make_index_sequence<std::variant_size_v<Variant>>{});
}
template <class One> constexpr std::size_t command_index = index_of<command, One>();
template <class One> constexpr std::size_t answer_index = index_of<answer, One>();

struct Metered : ::testing::Test {
    Metered() {
        auto owned = std::make_unique<watched_store>(clock);
        inner = owned.get();
        metered_store_options options;
        options.clock = [this] { return now; };
        outer = open_metered_store(std::move(owned), metrics, std::move(options));
    }

    template <class Command> command_snapshot counted() const {
        return metrics.snapshot().commands[command_index<Command>];
    }
    static std::uint64_t total(const auto& values) {
        return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
    }

    hand_clock clock;
    std::chrono::nanoseconds now{};
    store_metrics metrics;
    watched_store* inner = nullptr;
    std::unique_ptr<store> outer;
    const record_id id = order("1");
};

TEST_F(Metered, CountsCallsAndAnswersByKind) {
    outer->call(id, begin_with(print('a'))).value();
    outer->call(id, begin_with(print('a'))).value();
    outer->call(id, begin_with(print('b'))).value();
    outer->call(id, commands::lookup{}).value();

    const auto begins = counted<commands::begin>();
    EXPECT_EQ(begins.calls, 3U);
    EXPECT_EQ(begins.answers[answer_index<answers::started>], 1U);
    EXPECT_EQ(begins.answers[answer_index<answers::in_progress>], 1U);
    EXPECT_EQ(begins.answers[answer_index<answers::mismatch>], 1U);
    EXPECT_EQ(total(begins.answers), 3U);
    EXPECT_EQ(total(begins.failures), 0U);
    EXPECT_EQ(counted<commands::lookup>().calls, 1U);
    EXPECT_EQ(counted<commands::lookup>().answers[answer_index<answers::found>], 1U);
    EXPECT_EQ(counted<commands::complete>().calls, 0U);
}

TEST_F(Metered, CountsFailuresByCodeAndThoseInDoubt) {
    inner->next_failure = failure{.code = errc::overloaded};
    EXPECT_FALSE(outer->call(id, begin_with({})));
    inner->next_failure = failure{.code = errc::timed_out, .possible = effect::unknown};
    EXPECT_FALSE(outer->call(id, begin_with({})));

    const auto begins = counted<commands::begin>();
    EXPECT_EQ(begins.calls, 2U);
    EXPECT_EQ(begins.failures[static_cast<std::size_t>(errc::overloaded)], 1U);
    EXPECT_EQ(begins.failures[static_cast<std::size_t>(errc::timed_out)], 1U);
    EXPECT_EQ(total(begins.failures), 2U);
    EXPECT_EQ(total(begins.answers), 0U);
    EXPECT_EQ(begins.in_doubt, 1U);
    EXPECT_EQ(begins.in_flight, 0U);
}

TEST_F(Metered, KnowsWhatIsInFlightAndHowLongItTook) {
    inner->holding = true;
    int answered = 0;
    outer->submit({.id = id, .what = begin_with({})}, [&](result<reply>) { ++answered; });
    outer->submit({.id = id, .what = begin_with({})}, [&](result<reply>) { ++answered; });
    EXPECT_EQ(counted<commands::begin>().in_flight, 2U);

    now += 1'000ns;
    inner->deliver();
    EXPECT_EQ(counted<commands::begin>().in_flight, 1U);
    now += 3'000ns;
    inner->deliver();

    const auto begins = counted<commands::begin>();
    EXPECT_EQ(answered, 2);
    EXPECT_EQ(begins.in_flight, 0U);
    EXPECT_EQ(begins.latency.sum, 5'000ns);
    EXPECT_EQ(begins.latency.buckets[10], 1U); // 512 … 1023 ns
    EXPECT_EQ(begins.latency.buckets[12], 1U); // 2048 … 4095 ns
    EXPECT_EQ(begins.latency.count(), 2U);
}

TEST_F(Metered, CountsSweepsAndWhatTheyTook) {
    const auto said = outer->call(id, begin_with({})).value().said;
    outer->call(id, commands::release{.by = std::get<answers::started>(said).by}).value();

    EXPECT_EQ(outer->sweep({}).value().removed, 1U);
    EXPECT_EQ(outer->sweep({}).value().removed, 0U);

    EXPECT_EQ(metrics.snapshot().sweeps, 2U);
    EXPECT_EQ(metrics.snapshot().swept, 1U);
    EXPECT_EQ(metrics.snapshot().sweep_failures, 0U);
}

TEST_F(Metered, ChangesNoAnswerAndNoTrait) {
    const auto got = outer->call(id, begin_with(print('a'))).value();

    EXPECT_EQ(got.now, clock.store);
    EXPECT_EQ(std::get<answers::started>(got.said).content, print('a'));
    EXPECT_TRUE(outer->traits().durable);
    EXPECT_TRUE(outer->audit(id).value().empty());
}

TEST_F(Metered, CountsWhatDestructionDelivers) {
    inner->holding = true;
    outer->submit({.id = id, .what = begin_with({})}, [](result<reply>) {});

    outer.reset();

    EXPECT_EQ(counted<commands::begin>().answers[answer_index<answers::started>], 1U);
}

} // namespace
} // namespace semel::testing
