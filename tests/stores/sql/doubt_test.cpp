// What is said of a COMMIT that was not answered.
#include "stores/sql/doubt.hpp"

namespace semel {
namespace {

TEST_F(SqlDoubt, IsResolvedByWhatIsThere) {
    const auto out = pay_in_doubt();

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqlDoubt, IsGivenUpInTimeWhereNobodyAnswers) {
    const auto before = local_clock::now();

    const auto out = pay_in_doubt([&] { proxy_.fall_silent(); });

    EXPECT_EQ(out.kind(), outcome_kind::unconfirmed);
    EXPECT_LT(local_clock::now() - before, std::chrono::seconds{10});
}

// The new connection is patient again, and not only while it is made.
TEST_F(SqlDoubt, LeavesTheConnectionsOwnTimeouts) {
    ASSERT_TRUE(pay_in_doubt().executed());

    EXPECT_NO_THROW(client_.sql(sleep_two_seconds));
}

} // namespace
} // namespace semel
