#include "semel/ids.hpp"

#include <unordered_set>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace semel {
namespace {

TEST(Ulid, DecodesTheExampleOfItsSpecification) {
    const ulid id = ulid::parse("01ARZ3NDEKTSV4RRFFQ69G5FAV").value();

    EXPECT_EQ(id.milliseconds(), 1469922850259U);
    EXPECT_EQ(id.value().to_string(), "01563e3a-b5d3-d676-4c61-efb99302bd5b");
    EXPECT_EQ(id.to_string(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

TEST(Ulid, ReadsBothCasesAndWritesUpper) {
    EXPECT_EQ(ulid::parse("01arz3ndektsv4rrffq69g5fav").value().to_string(),
              "01ARZ3NDEKTSV4RRFFQ69G5FAV");
}

TEST(Ulid, HoldsAllBits) {
    const ulid all = ulid::parse("7ZZZZZZZZZZZZZZZZZZZZZZZZZ").value();

    EXPECT_EQ(all.value(), (uuid128{~std::uint64_t{0}, ~std::uint64_t{0}}));
    EXPECT_EQ(ulid{}.to_string(), "00000000000000000000000000");
}

TEST(Ulid, RefusesWhatIsNotOne) {
    for (const std::string_view text :
         {"", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVX",
          "8ZZZZZZZZZZZZZZZZZZZZZZZZZ", "01ARZ3NDEKTSV4RRFFQ69G5FAI", "01ARZ3NDEKTSV4RRFFQ69G5FAL",
          "01ARZ3NDEKTSV4RRFFQ69G5FAO", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSV4RRFFQ69G5FA-",
          " 01ARZ3NDEKTSV4RRFFQ69G5FA", "Z1ARZ3NDEKTSV4RRFFQ69G5FAV"}) {
        const result<ulid> id = ulid::parse(text);

        ASSERT_FALSE(id.has_value()) << text;
        EXPECT_EQ(id.error().code, errc::invalid_argument);
    }
}

TEST(Ulid, HasABigEndianBinaryForm) {
    const ulid id = ulid::from_parts(0x010203040506, {.high = 0x0708, .low = 0x090A0B0C0D0E0F10});
    const uuid128::bytes_type bytes = id.bytes();

    for (std::size_t i = 0; i < bytes.size(); ++i) {
        EXPECT_EQ(std::to_integer<std::size_t>(bytes[i]), i + 1);
    }
    EXPECT_EQ(ulid::from_bytes(bytes).value(), id);
    EXPECT_FALSE(ulid::from_bytes(std::span{bytes}.first(15)).has_value());
}

TEST(Ulid, SortsLikeItsText) {
    const ulid early = ulid::from_parts(1, {.high = 0xFFFF, .low = ~std::uint64_t{0}});
    const ulid late = ulid::from_parts(2, {});

    EXPECT_LT(early, late);
    EXPECT_LT(early.to_string(), late.to_string());
    EXPECT_LT(early.bytes(), late.bytes());
}

// A clock and a source of "randomness" that the test sets.
struct scripted {
    std::uint64_t now = 1000;
    random80 random{.high = 5, .low = 5};
    ulid_generator generator{
        {.milliseconds = [this] { return now; }, .random = [this] { return random; }}};
};

TEST(UlidGenerator, DrawsFreshRandomnessInANewMillisecond) {
    scripted script;

    EXPECT_EQ(script.generator.next().value(), ulid::from_parts(1000, {.high = 5, .low = 5}));
    script.now = 1001;
    script.random = {.high = 1, .low = 1};
    EXPECT_EQ(script.generator.next().value(), ulid::from_parts(1001, {.high = 1, .low = 1}));
}

TEST(UlidGenerator, CountsUpWithinAMillisecond) {
    scripted script;
    script.random = {.high = 5, .low = ~std::uint64_t{0}};

    EXPECT_EQ(script.generator.next().value(), ulid::from_parts(1000, script.random));
    EXPECT_EQ(script.generator.next().value(), ulid::from_parts(1000, {.high = 6, .low = 0}));
}

TEST(UlidGenerator, KeepsTheLastMillisecondWhenTheClockGoesBack) {
    scripted script;
    const ulid first = script.generator.next().value();
    script.now = 10;

    const ulid second = script.generator.next().value();

    EXPECT_GT(second, first);
    EXPECT_EQ(second.milliseconds(), 1000U);
}

TEST(UlidGenerator, ContinuesTheExampleOfTheSpecification) {
    scripted script;
    const ulid first = ulid::parse("01BX5ZZKBKACTAV9WEVGEMMVRZ").value();
    script.now = first.milliseconds();
    script.random = {.high = static_cast<std::uint16_t>(first.value().high),
                     .low = first.value().low};

    EXPECT_EQ(script.generator.next().value(), first);
    EXPECT_EQ(script.generator.next().value().to_string(), "01BX5ZZKBKACTAV9WEVGEMMVS0");
}

TEST(UlidGenerator, FailsWhenTheRandomPartIsUsedUpAndRecovers) {
    scripted script;
    script.random = {.high = 0xFFFF, .low = ~std::uint64_t{0}};
    ASSERT_TRUE(script.generator.next().has_value());

    EXPECT_EQ(script.generator.next().error().code, errc::limit_exceeded);
    EXPECT_EQ(script.generator.next().error().code, errc::limit_exceeded);
    script.now = 1001;
    EXPECT_EQ(script.generator.next().value().milliseconds(), 1001U);
}

TEST(UlidGenerator, RefusesAClockBeyond48Bits) {
    scripted script;
    script.now = ulid::milliseconds_max + 1;

    EXPECT_EQ(script.generator.next().error().code, errc::limit_exceeded);
}

TEST(NewUlid, IncreasesWithinTheProcess) {
    ulid last = new_ulid();
    for (int i = 0; i < 10'000; ++i) {
        const ulid next = new_ulid();
        ASSERT_LT(last, next);
        last = next;
    }
}

// A child that counted on from its parent's last id would make the parent's next one.
TEST(NewUlid, DiffersBetweenAProcessAndItsForkedChild) {
    for (int i = 0; i < 50; ++i) {
        int ends[2];
        ASSERT_EQ(pipe(ends), 0);
        (void)new_ulid();
        const pid_t child = fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            const uuid128::bytes_type bytes = new_ulid().bytes();
            _exit(write(ends[1], bytes.data(), bytes.size()) == 16 ? 0 : 1);
        }
        const ulid ours = new_ulid();
        uuid128::bytes_type theirs;
        int status = 1;

        EXPECT_EQ(read(ends[0], theirs.data(), theirs.size()), 16);
        EXPECT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
        EXPECT_NE(ulid::from_bytes(theirs).value(), ours);
        close(ends[0]);
        close(ends[1]);
    }
}

TEST(NewUuid7, IncreasesAndHasVersionAndVariant) {
    uuid128 last = new_uuid7();
    for (int i = 0; i < 10'000; ++i) {
        const uuid128 next = new_uuid7();
        ASSERT_LT(last, next);
        ASSERT_EQ(next.version(), 7U);
        ASSERT_EQ(next.low >> 62U, 2U);
        last = next;
    }
}

TEST(Ulid, Hashes) {
    const std::unordered_set<ulid> set{ulid{}, new_ulid(), ulid{}};

    EXPECT_EQ(set.size(), 2U);
}

} // namespace
} // namespace semel
