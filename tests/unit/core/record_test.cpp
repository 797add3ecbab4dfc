#include "semel/core/record.hpp"

#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>
#include <set>
#include <vector>

#include "core/local_hash.hpp"
#include "semel/core/command.hpp"

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

// Keys of 32 bytes whose first eight cancel the hash's secret: whatever the next eight are, they
// are multiplied by zero.
std::vector<record_id> alike(std::size_t count) {
    const std::string tenant = "t";
    const std::string operation = "o";
    const std::uint64_t seed =
        XXH3_64bits_withSeed(operation.data(), 1, XXH3_64bits_withSeed(tenant.data(), 1, 1) + 1) +
        32;
    std::uint64_t secret = 0;
    std::memcpy(&secret, XXH3_kSecret, sizeof secret);
    const std::uint64_t zero = secret + seed;
    std::vector<record_id> made;
    for (std::uint64_t number = 0; number < count; ++number) {
        std::string key(32, 'k');
        std::memcpy(key.data(), &zero, sizeof zero);
        std::memcpy(key.data() + 8, &number, sizeof number);
        made.push_back({tenant, operation, key});
    }
    return made;
}

TEST(LocalHash, KeysThatWereMadeToBeAlikeAreNot) {
    std::set<std::uint64_t> stable;
    std::set<std::uint64_t> local;
    for (const record_id& one : alike(1'000)) {
        stable.insert(hash_of(one));
        local.insert(local_hash_of(one));
    }

    EXPECT_EQ(stable.size(), 1U) << "the keys are not alike, so this test shows nothing";
    EXPECT_EQ(local.size(), 1'000U);
}

TEST(LocalHash, IsTheSameInOneProcess) {
    const record_id id{"t", "o", "k"};

    EXPECT_EQ(local_hash_of(id), local_hash_of(id));
    EXPECT_NE(local_hash_of(id), hash_of(id));
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

TEST(SealedResult, HoldsWhateverItIsMadeFrom) {
    EXPECT_TRUE(holds(*sealed_result{}));
    EXPECT_TRUE(holds(*sealed_result{stored_result{.body = "order 7", .checksum = 1}}));
}

TEST(SealedResult, IsTheOnlyResultThatAVerdictTakes) {
    const commands::resolve::committed verdict{stored_result{.body = "order 7"}};

    EXPECT_TRUE(holds(*verdict.result));
    EXPECT_EQ(verdict.result->body, "order 7");
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
