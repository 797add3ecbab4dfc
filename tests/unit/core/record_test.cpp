#include "semel/record.hpp"

#include <gtest/gtest.h>

#include <set>

#include "semel/command.hpp"

namespace semel {
namespace {

TEST(RecordId, HashSeparatesTheParts) {
    const std::set<std::uint64_t> hashes{
        hash_of({"a", "bc", "k"}), hash_of({"ab", "c", "k"}), hash_of({"", "abc", "k"}),
        hash_of({"abc", "", "k"}), hash_of({"a", "b", "ck"}), hash_of({"", "", "abck"}),
    };

    EXPECT_EQ(hashes.size(), 6U);
}

TEST(RecordId, HashIsTheSameForEver) {
    // Stored data and routing depend on it: another number is another version of the format.
    EXPECT_EQ(hash_of({"acme", "ORDER_CREATE", "k-1"}), 13370364506859950671U);
}

TEST(RecordId, IsComparedByteByByte) {
    EXPECT_NE((record_id{"t", "o", "k"}), (record_id{"t", "o", "K"}));
    EXPECT_NE((record_id{"t", "o", "k"}), (record_id{"t", "o", "k "}));
    EXPECT_LT((record_id{"a", "z", "z"}), (record_id{"b", "a", "a"}));
}

TEST(StoredResult, HoldsOnceSealed) {
    stored_result result{.body = "order 7"};
    EXPECT_FALSE(holds(result));

    seal(result);

    EXPECT_TRUE(holds(result));
}

TEST(StoredResult, DoesNotHoldWithAnotherBody) {
    stored_result result{.body = "order 7"};
    seal(result);

    result.body = "order 8";

    EXPECT_FALSE(holds(result));
}

TEST(StoredResult, DoesNotHoldAsAnotherKind) {
    stored_result result{.kind = result_kind::rejection, .body = "no"};
    seal(result);

    result.kind = result_kind::value;

    EXPECT_FALSE(holds(result));
}

TEST(StoredResult, EmptyBodyCanBeSealed) {
    stored_result result;

    seal(result);

    EXPECT_TRUE(holds(result));
}

TEST(Names, EveryStateHasItsOwn) {
    const std::set<std::string_view> names{
        name(record_state::processing), name(record_state::succeeded),
        name(record_state::failed_retryable), name(record_state::failed_final)};

    EXPECT_EQ(names.size(), 4U);
}

TEST(Names, CommandsAndAnswersAreCalledAsTheirTypes) {
    EXPECT_EQ(name(command{commands::begin{}}), "begin");
    EXPECT_EQ(name(command{commands::checkpoint{}}), "checkpoint");
    EXPECT_EQ(name(command{commands::lookup{}}), "lookup");
    EXPECT_EQ(name(answer{answers::started{}}), "started");
    EXPECT_EQ(name(answer{answers::fenced_off{}}), "fenced_off");
    EXPECT_EQ(name(answer{answers::found{}}), "found");
}

} // namespace
} // namespace semel
