// What is kept of a result, and what becomes of one that cannot be kept or read.
#include <stdexcept>
#include <vector>

#include "engine_fixture.hpp"
#include "semel/engine/json.hpp"

namespace {

struct receipt {
    int number = 0;
};
struct unwritable {};
struct move_only {
    std::unique_ptr<int> number;
};

} // namespace

template <> struct semel::codec<receipt> {
    static constexpr std::string_view type = "application/x-receipt";
    static std::string encode(const receipt& value) { return std::to_string(value.number); }
    static receipt decode(std::string_view from) { return {std::stoi(std::string{from})}; }
};

template <> struct semel::codec<unwritable> {
    static constexpr std::string_view type = "application/x-unwritable";
    static std::string encode(const unwritable&) { throw std::runtime_error{"cannot encode"}; }
    static unwritable decode(std::string_view) { return {}; }
};

template <> struct semel::codec<move_only> {
    static constexpr std::string_view type = "application/x-move-only";
    static std::string encode(const move_only& value) { return std::to_string(*value.number); }
    static move_only decode(std::string_view from) {
        return {std::make_unique<int>(std::stoi(std::string{from}))};
    }
};

namespace semel::tests {
namespace {

class Results : public on_every_store {};
SEMEL_ON_EVERY_STORE(Results);

TEST_P(Results, ReplaysEveryKindOfValue) {
    auto& engine = open();
    const nlohmann::json falsy[] = {
        nullptr, false, 0, "", nlohmann::json::array(), nlohmann::json::object()};
    int number = 0;

    for (const auto& value : falsy) {
        const auto key = std::to_string(number++);
        (void)engine.execute<nlohmann::json>(order(key), [&] { return value; });
        const auto again = engine.execute<nlohmann::json>(
            order(key), []() -> nlohmann::json { throw std::logic_error{"ran"}; });
        EXPECT_EQ(again.value(), value);
    }
}

TEST_P(Results, ReplaysBinaryEmptyAndUserTypes) {
    auto& engine = open();
    const bytes binary{std::byte{0}, std::byte{255}, std::byte{10}};

    (void)engine.execute<bytes>(order("binary"), [&] { return binary; });
    (void)engine.execute<bytes>(order("empty"), [] { return bytes{}; });
    (void)engine.execute<receipt>(order("receipt"), [] { return receipt{7}; });
    (void)engine.execute<std::vector<int>>(order("list"), [] { return std::vector{1, 2}; });

    EXPECT_EQ(engine.execute<bytes>(order("binary"), [] { return bytes{}; }).value(), binary);
    EXPECT_EQ(engine.execute<bytes>(order("empty"), [&] { return binary; }).value(), bytes{});
    EXPECT_EQ(engine.execute<receipt>(order("receipt"), [] { return receipt{}; }).value().number,
              7);
    EXPECT_EQ(
        engine.execute<std::vector<int>>(order("list"), [] { return std::vector{0}; }).value(),
        (std::vector{1, 2}));
}

TEST_P(Results, TakesATypeThatCanOnlyBeMoved) {
    auto& engine = open();
    const auto work = [] { return move_only{std::make_unique<int>(5)}; };

    auto first = engine.execute<move_only>(order("k"), work);
    const move_only own = std::move(first).value();
    auto second = engine.execute<move_only>(order("k"), work);

    EXPECT_EQ(*own.number, 5);
    EXPECT_EQ(*second.value().number, 5);
    EXPECT_TRUE(second.replayed());
}

TEST_P(Results, TakesVoidWorkWithAVerdict) {
    auto& engine = open();

    const auto yes = engine.execute<void>(order("yes"), []() -> verdict<void> { return accept(); });
    const auto no = engine.execute<void>(order("no"), []() -> verdict<void> { return reject(); });

    EXPECT_TRUE(yes.executed() && !yes.rejected());
    EXPECT_TRUE(no.executed() && no.rejected());
    EXPECT_TRUE(engine.execute<void>(order("no"), [] {}).rejected());
}

TEST_P(Results, RemembersTheEffectOfAResultOverTheLimit) {
    auto& engine = open({.result_bytes_max = 8});

    const auto exact =
        engine.execute<std::string>(order("exact"), [] { return std::string(8, 'x'); });
    const auto over =
        engine.execute<std::string>(order("over"), [] { return std::string(9, 'x'); });
    const auto again = engine.execute<std::string>(order("over"), never);

    EXPECT_EQ(engine.execute<std::string>(order("exact"), never).value(), exact.value());
    EXPECT_EQ(over.value(), std::string(9, 'x'));
    EXPECT_TRUE(again.replayed());
    EXPECT_FALSE(again.has_value());
    EXPECT_THROW((void)again.value(), tombstone_error);
    EXPECT_EQ(engine.counters().tombstones, 1U);
}

TEST_P(Results, RemembersTheEffectOfAResultThatCannotBeEncoded) {
    auto& engine = open();
    int runs = 0;
    const auto work = [&] { return ++runs, unwritable{}; };

    const auto first = engine.execute<unwritable>(order("k"), work);
    const auto second = engine.execute<unwritable>(order("k"), work);

    EXPECT_TRUE(first.has_value());
    EXPECT_THROW((void)second.value(), tombstone_error);
    EXPECT_EQ(runs, 1);
}

TEST_P(Results, NeitherReplaysNorRunsAgainWhatCannotBeDecoded) {
    auto& engine = open();
    (void)engine.execute<std::string>(order("k"), [] { return std::string{"not a number"}; });

    const auto other = engine.execute<receipt>(order("k"), []() -> receipt {
        ADD_FAILURE() << "ran again";
        return {};
    });

    EXPECT_EQ(other.kind(), outcome_kind::unavailable);
    EXPECT_EQ(other.why()->code, errc::corrupt);
}

TEST_P(Results, NeitherReplaysNorRunsAgainWhatFailsItsChecksum) {
    auto& engine = open();
    const commands::begin begin{.owner = {.high = 1, .low = 1}, .lease = 1h};
    const auto begun = engine.records().call(id_of(order("k")), begin);
    ASSERT_TRUE(begun);
    const commands::complete broken{.by = std::get<answers::started>(begun->said).by,
                                    .result = {.body = "bytes", .checksum = 1},
                                    .retention = 1h};
    ASSERT_TRUE(engine.records().call(id_of(order("k")), broken));

    const auto out = engine.execute<std::string>(order("k"), never);

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(out.why()->code, errc::corrupt);
}

} // namespace
} // namespace semel::tests
