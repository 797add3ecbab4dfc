// The connection breaks after every few bytes, in both directions: what was promised holds.
#include "stores/sql/cuts.hpp"

namespace semel {
namespace {

using testing_support::direction;

TEST_F(SqlTransactCuts, R_31_RecordAndEffectStayTogetherWhereverItBreaks) {
    cut_everywhere([&](auto& client, auto& port) { return transact(client, port); });
}

TEST_F(SqlTransactCuts, R_31_RecordAndEffectStayTogetherInATransactionOfTheCallers) {
    cut_everywhere([&](auto& client, auto& port) { return execute_in(client, port); });
}

class SqlStoreCuts : public SqlCuts {
protected:
    std::unique_ptr<store> open_through() {
        auto through = options_at(proxy_.port());
        through.table_prefix = prefix();
        through.lanes = 1;
        return open_database(through).value();
    }
};

TEST_F(SqlStoreCuts, ADefiniteAnswerIsTrueAndADoubtIsResolvedByAskingAgain) {
    int definite = 0;
    int doubts = 0;
    for (const auto which : {direction::to_server, direction::to_client}) {
        for (std::size_t bytes = 1; bytes < begin_bytes; bytes += begin_stride) {
            SCOPED_TRACE(bytes);
            clear();
            proxy_.never_cut();
            const auto store = open_through();
            proxy_.cut_after(which, bytes);
            const auto begun = store->call(id_of("k"), begin_by(anna));
            const std::string rows = sql("SELECT count(*) FROM " + record_table());
            if (begun) {
                EXPECT_EQ(rows, "1");
                ++definite;
                continue;
            }
            if (begun.error().possible == effect::none) {
                EXPECT_EQ(rows, "0") << describe(begun.error());
                ++definite;
                continue;
            }
            ++doubts;
            proxy_.never_cut();
            const auto again = store->call(id_of("k"), begin_by(anna));
            ASSERT_TRUE(again) << describe(again.error());
            const auto* busy = std::get_if<answers::in_progress>(&again->said);
            if (busy != nullptr)
                EXPECT_EQ(busy->holder.owner, anna);
            else
                EXPECT_TRUE(std::holds_alternative<answers::started>(again->said));
        }
    }
    EXPECT_GT(doubts, 0);
    EXPECT_GT(definite, 0);
}

} // namespace
} // namespace semel
