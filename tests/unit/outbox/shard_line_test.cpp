#include "outbox/shard_line.hpp"

#include <gmock/gmock.h>

namespace semel::outbox {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

constexpr local_time noon{1h};

message row(std::int64_t number, const std::string& key) {
    message made;
    made.row = number;
    made.event.key = key;
    return made;
}

std::vector<std::int64_t> rows_of(const std::vector<message>& all) {
    std::vector<std::int64_t> made;
    for (const auto& one : all) made.push_back(one.row);
    return made;
}

TEST(ShardLine, GivesRowsInTheirOrderAndSaysWhereToReadOn) {
    shard_line line;
    line.add({row(1, "a"), row(2, "b"), row(5, "a")});

    EXPECT_THAT(rows_of(line.take(2)), ElementsAre(1, 2));
    EXPECT_THAT(rows_of(line.take(2)), ElementsAre(5));
    EXPECT_EQ(line.after(), 5);
}

TEST(ShardLine, AClosedKeyIsForgottenUntilTheShardIsReadFromItsStartInTime) {
    shard_line line;
    line.add({row(1, "a"), row(2, "b"), row(3, "a")});
    line.close("a", noon);
    line.add({row(4, "a"), row(5, "b")});

    EXPECT_THAT(rows_of(line.take(9)), ElementsAre(2, 5));
    EXPECT_EQ(line.opens(), noon);
    line.restart(noon - 1s, {});
    line.add({row(1, "a"), row(6, "b")});
    EXPECT_THAT(rows_of(line.take(9)), ElementsAre(6)) << "it is not time yet";
    line.restart(noon, {});
    EXPECT_EQ(line.after(), 0);
    line.add({row(1, "a"), row(3, "a"), row(4, "a")});
    EXPECT_THAT(rows_of(line.take(9)), ElementsAre(1, 3, 4));
    EXPECT_EQ(line.opens(), std::nullopt);
}

TEST(ShardLine, NamesTheRowsBehindADeadOne) {
    shard_line line;
    line.add({row(1, "a"), row(2, "b")});
    line.park("a");
    EXPECT_THAT(line.add({row(3, "a"), row(4, "b")}), ElementsAre(3));
    EXPECT_THAT(rows_of(line.take(9)), ElementsAre(2, 4));

    line.restart(noon, {"b"});
    EXPECT_THAT(line.add({row(1, "a"), row(5, "b")}), ElementsAre(5));
    EXPECT_THAT(rows_of(line.take(9)), ElementsAre(1)) << "only what is dead by now counts";
}

} // namespace
} // namespace semel::outbox
