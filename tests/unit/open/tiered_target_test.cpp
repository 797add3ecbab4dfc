#include <gmock/gmock.h>

#include "open/targets.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

result<tiered_urls> target_of(std::string_view url) {
    return tiered_target(net::parse_url(url).value());
}

TEST(TieredTarget, ReadsBothUrls) {
    const auto got =
        target_of("tiered:?front=redis://cache/1?lanes=2%26prefix=x:&truth=sqlite:a%252Fb.db"
                  "&gate_ms=15000")
            .value();

    EXPECT_EQ(got.front, "redis://cache/1?lanes=2&prefix=x:");
    EXPECT_EQ(got.truth, "sqlite:a%2Fb.db");
    EXPECT_EQ(got.options.gate_life, std::chrono::seconds{15});
}

TEST(TieredTarget, MissesWhatIsNotThere) {
    for (const auto* url : {"tiered:", "tiered:?front=redis://cache", "tiered:?truth=sqlite:a",
                            "tiered:redis://cache?front=redis://a&truth=sqlite:b",
                            "tiered:?front=redis://a&truth=sqlite:b&gate=1"}) {
        const auto got = target_of(url);
        ASSERT_FALSE(got) << url;
        EXPECT_EQ(got.error().code, errc::invalid_argument) << url;
    }
}

TEST(TieredTarget, OnlyRedisCanBeTheFront) {
    const auto got = open_store("tiered:?front=memory:&truth=memory:");

    ASSERT_FALSE(got);
    EXPECT_THAT(got.error().detail, HasSubstr("must be redis://"));
}

TEST(TieredTarget, MigrationIsTheTruths) {
    const auto got = migrate("tiered:?front=redis://127.0.0.1:1&truth=memory:", migrate_mode::run);

    ASSERT_FALSE(got);
    EXPECT_THAT(got.error().detail, HasSubstr("'memory:' stores have no tables"));
}

} // namespace
} // namespace semel
