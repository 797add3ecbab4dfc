#include "semel/store.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace semel {
namespace {

// Answers inline and remembers what it was asked.
class inline_store final : public store {
public:
    void submit(envelope what, completion done) override {
        asked.push_back(what.id.key);
        now = what.now;
        if (what.id.key == "bad") {
            done(failure{.code = errc::unavailable, .possible = effect::unknown});
        } else {
            done(reply{.said = answers::kept{}, .now = now.value_or(time_point{})});
        }
    }
    result<sweep_report> sweep(const sweep_request&) override { return sweep_report{}; }
    result<std::vector<audit_entry>> audit(const record_id&) override {
        return std::vector<audit_entry>{};
    }
    result<record_page> search(const record_query&) override { return record_page{}; }
    [[nodiscard]] store_traits traits() const override { return {}; }

    std::vector<std::string> asked;
    std::optional<time_point> now;
};

TEST(Store, CallSubmitsAndReturnsTheAnswer) {
    inline_store it;
    const time_point noon{std::chrono::hours{12}};

    const auto got = it.call({"t", "o", "k"}, commands::purge{}, noon);

    ASSERT_TRUE(got);
    EXPECT_TRUE(std::holds_alternative<answers::kept>(got->said));
    EXPECT_EQ(it.now, noon);
}

TEST(Store, CallWithoutTimeLeavesItToTheStore) {
    inline_store it;

    ASSERT_TRUE(it.call({"t", "o", "k"}, commands::purge{}));

    EXPECT_EQ(it.now, std::nullopt);
}

TEST(Store, CallReturnsTheFailure) {
    inline_store it;

    const auto got = it.call({"t", "o", "bad"}, commands::purge{});

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().possible, effect::unknown);
}

TEST(Store, ManySubmissionsGoOneByOneUnlessTheDriverKnowsBetter) {
    inline_store it;
    int answered = 0;
    std::vector<submission> many;
    for (const char* key : {"b", "a"}) {
        many.push_back({.what = {.id = {"t", "o", key}, .what = commands::purge{}},
                        .done = [&](result<reply>) { ++answered; }});
    }

    it.submit_all(std::move(many));

    EXPECT_EQ(it.asked, (std::vector<std::string>{"b", "a"}));
    EXPECT_EQ(answered, 2);
}

} // namespace
} // namespace semel
