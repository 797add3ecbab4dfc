#include "demo/report.hpp"

#include <gtest/gtest.h>

namespace semel::demo {
namespace {

scene_report good() {
    return {
        .name = "a crash", .key = "k", .promise = "once", .naive_effects = 2, .semel_effects = 1};
}

TEST(DemoReport, OneEffectPerKeyAndNoProblemIsAsPromised) {
    EXPECT_EQ(judge({good(), good()}), judgement::as_promised);
}

TEST(DemoReport, AnEffectTooManyOrTooFewIsNot) {
    for (const std::size_t effects : {std::size_t{0}, std::size_t{2}}) {
        auto bad = good();
        bad.semel_effects = effects;
        EXPECT_EQ(judge({good(), bad}), judgement::not_as_promised);
    }
}

TEST(DemoReport, AWrongAnswerIsNotAsPromisedThoughTheEffectTookPlaceOnce) {
    auto bad = good();
    bad.problems = {"a repeat got another answer"};
    EXPECT_EQ(judge({bad}), judgement::not_as_promised);
}

} // namespace
} // namespace semel::demo
