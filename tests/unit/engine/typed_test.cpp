// Typed work, codecs and typed outcomes, without an engine.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "semel/engine/detail/work.hpp"
#include "semel/engine/json.hpp"

namespace {

struct order_line {
    std::string item;
    int count = 0;
    friend bool operator==(const order_line&, const order_line&) = default;
};
void to_json(nlohmann::json& to, const order_line& from) {
    to = {{"item", from.item}, {"count", from.count}};
}
void from_json(const nlohmann::json& from, order_line& to) {
    to = {from.at("item").get<std::string>(), from.at("count").get<int>()};
}

struct token {
    int value = 0;
};
struct odd_token {};

} // namespace

template <> struct semel::codec<token> {
    static constexpr std::string_view type = "application/x-token";
    static std::string encode(const token& from) {
        if (from.value < 0) throw std::range_error{"negative"};
        return std::to_string(from.value);
    }
    static token decode(std::string_view from) { return {std::stoi(std::string{from})}; }
};
template <> struct semel::codec<odd_token> {
    static constexpr std::string_view type = "application/x-odd";
    static std::string encode(const odd_token&) { throw 1; }
    static odd_token decode(std::string_view) { throw 2; }
};

namespace semel {
namespace {

using namespace std::chrono_literals;

template <class T> T round_trip(const T& value) {
    return codec<T>::decode(codec<T>::encode(value));
}

TEST(Codec, KeepsStringsAndBytesAsTheyAre) {
    const std::string text{"a\0\xFF", 3};
    const bytes raw{std::byte{0}, std::byte{0xFF}};

    EXPECT_EQ(round_trip(text), text);
    EXPECT_EQ(round_trip(std::string{}), "");
    EXPECT_EQ(round_trip(raw), raw);
    EXPECT_EQ(round_trip(bytes{}), bytes{});
    EXPECT_EQ(codec<std::string>::type, "text/plain");
    EXPECT_EQ(codec<bytes>::type, "application/octet-stream");
}

TEST(Codec, TakesEveryTypeThatNlohmannJsonCanConvert) {
    const order_line line{"apple", 3};
    const std::map<std::string, std::vector<int>> nested{{"a", {1, 2}}, {"b", {}}};

    EXPECT_EQ(round_trip(line), line);
    EXPECT_EQ(round_trip(nested), nested);
    EXPECT_EQ(round_trip(-7), -7);
    EXPECT_EQ(codec<order_line>::type, "application/json");
}

TEST(Codec, KeepsFalsyJson) {
    const nlohmann::json falsy[] = {
        nullptr, false, 0, 0.0, "", nlohmann::json::array(), nlohmann::json::object()};
    for (const auto& value : falsy) {
        EXPECT_EQ(round_trip(value), value);
        EXPECT_EQ(round_trip(value).dump(), value.dump());
    }
    EXPECT_EQ(round_trip(false), false);
    EXPECT_EQ(round_trip(std::vector<int>{}), std::vector<int>{});
}

TEST(Codec, ExistsOnlyForTypesThatHaveOne) {
    struct plain {};
    static_assert(has_codec<std::string> && has_codec<bytes> && has_codec<token>);
    static_assert(has_codec<nlohmann::json> && has_codec<order_line> && has_codec<int>);
    static_assert(!has_codec<plain>);
}

TEST(Encoded, WhatCannotBeEncodedIsATombstone) {
    EXPECT_EQ(detail::encoded(token{5}, result_kind::rejection).body, "5");
    EXPECT_EQ(detail::encoded(token{5}, result_kind::rejection).kind, result_kind::rejection);
    EXPECT_EQ(detail::encoded(token{-5}, result_kind::value).kind, result_kind::tombstone);
    EXPECT_EQ(detail::encoded(odd_token{}, result_kind::value).kind, result_kind::tombstone);
    EXPECT_EQ(detail::encoded(nothing{}, result_kind::value).kind, result_kind::value);
}

TEST(Encoded, TextThatIsNotUtf8CannotBeJson) {
    const std::vector<std::string> broken{"\xFF"};

    EXPECT_EQ(detail::encoded(broken, result_kind::value).kind, result_kind::tombstone);
}

// A port for work that asks for nothing.
class idle_port final : public execution_port {
public:
    const record_id& id() const override { return id_; }
    claim by() const override { return {.fence = 4}; }
    std::uint32_t attempt_count() const override { return 1; }
    bool taken_over() const override { return false; }
    std::stop_token stop_token() const override { return {}; }
    const std::string* recorded(std::string_view) const override { return nullptr; }
    void record(std::string_view, std::string) override {}
    void record_async(std::string, std::string, unique_function<void(result<void>)>) override {}
    void set_result_ref(std::string ref) override { ref_ = std::move(ref); }

    std::string ref_;

private:
    const record_id id_{"t", "o", "k"};
};

template <class T, class Work> work_end end_of(Work work) {
    idle_port port;
    execution run{port};
    detail::typed_work<T, Work> typed{work};
    return typed.run(run);
}

const stored_result& result_of(const work_end& end) {
    return std::get<answered_end>(end).result;
}

TEST(TypedWork, TakesWorkWithAndWithoutTheExecution) {
    EXPECT_EQ(result_of(end_of<std::string>([] { return std::string{"a"}; })).body, "a");
    EXPECT_EQ(result_of(end_of<std::string>([](execution& run) { return run.key(); })).body, "k");
    EXPECT_EQ(result_of(end_of<std::string>([] { return "literal"; })).body, "literal");
}

TEST(TypedWork, TakesEveryVerdict) {
    const auto yes = end_of<token>([] { return accept(token{1}); });
    const auto no = end_of<token>([] { return reject(token{2}); });
    const auto later = end_of<token>([]() -> verdict<token> { return retry_later("x", 3s); });
    const auto untold = end_of<token>([]() -> verdict<token> { return unknown(); });

    EXPECT_EQ(result_of(yes).kind, result_kind::value);
    EXPECT_EQ(result_of(no).kind, result_kind::rejection);
    EXPECT_EQ(result_of(no).body, "2");
    EXPECT_EQ(std::get<retry_later_verdict>(later).delay, 3s);
    EXPECT_TRUE(std::holds_alternative<unknown_verdict>(untold));
}

TEST(TypedWork, TakesVoidInEveryForm) {
    EXPECT_EQ(result_of(end_of<void>([] {})).kind, result_kind::value);
    EXPECT_EQ(result_of(end_of<void>([] { return nothing{}; })).kind, result_kind::value);
    EXPECT_EQ(result_of(end_of<void>([]() -> verdict<void> { return accept(); })).kind,
              result_kind::value);
    EXPECT_EQ(result_of(end_of<void>([]() -> verdict<void> { return reject(); })).kind,
              result_kind::rejection);
    EXPECT_TRUE(std::holds_alternative<unknown_verdict>(end_of<void>([] { return unknown(); })));
}

TEST(TypedWork, CatchesWhateverItThrows) {
    const auto end = end_of<void>([] { throw 42; });

    EXPECT_THROW(std::rethrow_exception(std::get<threw_end>(end).thrown), int);
}

TEST(Execution, RefusesAReferenceOverTheLimit) {
    idle_port port;
    execution run{port};

    run.set_result_ref(std::string(255, 'x'));
    EXPECT_THROW(run.set_result_ref(std::string(256, 'x')), failure_error);

    EXPECT_EQ(port.ref_.size(), 255U);
}

template <class T> outcome<T> finished(raw_outcome raw) {
    return detail::typed_end<T>{}.finish(std::move(raw));
}

TEST(TypedOutcome, DecodesAReplay) {
    const auto out = finished<token>({.kind = outcome_kind::replayed, .result = {.body = "7"}});

    EXPECT_EQ(out.value().value, 7);
    EXPECT_TRUE(finished<void>({.kind = outcome_kind::replayed}).has_value());
}

TEST(TypedOutcome, WhatCannotBeDecodedIsCorrupt) {
    const auto bad = finished<token>({.kind = outcome_kind::replayed, .result = {.body = "x"}});
    const auto odd = finished<odd_token>({.kind = outcome_kind::replayed});

    EXPECT_EQ(bad.kind(), outcome_kind::unavailable);
    EXPECT_EQ(bad.why()->code, errc::corrupt);
    EXPECT_EQ(odd.why()->code, errc::corrupt);
    EXPECT_THROW((void)bad.value(), unavailable_error);
}

TEST(TypedOutcome, ThrowsTheErrorOfItsKind) {
    const auto of = [](outcome_kind kind) { return finished<token>({.kind = kind, .error = "e"}); };

    EXPECT_THROW((void)of(outcome_kind::in_progress).value(), in_progress_error);
    EXPECT_THROW((void)of(outcome_kind::mismatch).value(), mismatch_error);
    EXPECT_THROW((void)of(outcome_kind::failed).value(), failed_error);
    EXPECT_THROW((void)of(outcome_kind::in_doubt).value(), in_doubt_error);
    EXPECT_THROW((void)of(outcome_kind::unconfirmed).value(), unconfirmed_error);
    EXPECT_THROW((void)of(outcome_kind::unavailable).value(), unavailable_error);
    try {
        (void)of(outcome_kind::failed).value();
    } catch (const outcome_error& why) {
        EXPECT_EQ(why.kind(), outcome_kind::failed);
        EXPECT_STREQ(why.what(), "e");
    }
}

TEST(TypedOutcome, ATombstoneHasNoValue) {
    const auto out = finished<token>(
        {.kind = outcome_kind::replayed, .result = {.kind = result_kind::tombstone}});

    EXPECT_TRUE(out.replayed());
    EXPECT_THROW((void)out.value(), tombstone_error);
}

TEST(TypedOutcome, R_25_RethrowsTheWorksOwnException) {
    const auto thrown = std::make_exception_ptr(std::domain_error{"own"});
    const raw_outcome raw{.kind = outcome_kind::failed, .thrown = thrown};

    EXPECT_THROW((void)finished<token>(raw).value(), std::domain_error);
    const auto work = [] { return token{}; };
    detail::typed_work<token, decltype(work)> typed{work};
    EXPECT_THROW((void)typed.finish(raw_outcome{raw}), std::domain_error);
}

TEST(TypedOutcome, VisitsTheValueOrTheOutcome) {
    const auto with = finished<token>({.kind = outcome_kind::replayed, .result = {.body = "7"}});
    const auto without = finished<token>({.kind = outcome_kind::mismatch});
    const auto on_value = [](const token& it) { return it.value; };
    const auto on_other = [](const outcome<token>& it) { return -static_cast<int>(it.kind()); };

    EXPECT_EQ(with.visit(on_value, on_other), 7);
    EXPECT_EQ(without.visit(on_value, on_other), -static_cast<int>(outcome_kind::mismatch));
}

TEST(Consumed, OfEveryOutcome) {
    EXPECT_EQ(detail::as_consumed(outcome_kind::executed), consumed::executed);
    EXPECT_EQ(detail::as_consumed(outcome_kind::replayed), consumed::duplicate);
    EXPECT_EQ(detail::as_consumed(outcome_kind::in_progress), consumed::in_progress);
    for (const auto kind : {outcome_kind::mismatch, outcome_kind::failed, outcome_kind::in_doubt}) {
        EXPECT_EQ(detail::as_consumed(kind), consumed::failed);
    }
    for (const auto kind : {outcome_kind::unconfirmed, outcome_kind::unavailable}) {
        EXPECT_EQ(detail::as_consumed(kind), consumed::unavailable);
    }
}

} // namespace
} // namespace semel
