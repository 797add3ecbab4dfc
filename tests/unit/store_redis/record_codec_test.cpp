#include "databases/redis/store/record_codec.hpp"

#include <gtest/gtest.h>

#include <random>

namespace semel::redis {
namespace {

using namespace std::string_literals;
using std::chrono::hours;
using std::chrono::seconds;

constexpr time_point day_one{hours{24 * 20'000}};

fingerprint content_of(std::byte fill) {
    fingerprint::bytes_type bytes;
    bytes.fill(fill);
    return fingerprint{bytes};
}

record full_record() {
    record it;
    it.state = record_state::failed_retryable;
    it.policy = {.on_lease_expiry = lease_expiry::probe,
                 .attempts_max = 7,
                 .grace = seconds{3},
                 .processing_max = hours{5}};
    it.content = content_of(std::byte{0xAB});
    it.holder = {.fence = 0xFFFF'FFFF'FFFF'FFFE, .owner = {.high = 1, .low = ~std::uint64_t{0}}};
    it.attempts = 3;
    it.lease_until = day_one + seconds{1};
    it.begun_at = day_one - seconds{2};
    it.retry_after = day_one + seconds{3};
    it.result = {.kind = result_kind::rejection,
                 .body = "body\0with\r\nbytes"s,
                 .type = "text/plain",
                 .ref = "order_1",
                 .checksum = 0x8877'6655'4433'2211};
    it.error = "e\0rror"s;
    it.attributes = R"({"a":1})";
    it.checkpoints = {{.name = "one", .data = ""}, {.name = "", .data = std::string(300, '\0')}};
    it.created_at = day_one;
    it.updated_at = day_one + seconds{4};
    it.expires_at = day_one + hours{1};
    return it;
}

TEST(RecordCodec, EverythingComesBack) {
    const record it = full_record();

    const auto got = decode(encode(it, 42)).value();

    EXPECT_EQ(got.it, it);
    EXPECT_EQ(got.version, 42U);
    EXPECT_EQ(got.fence_floor, 0U);
}

TEST(RecordCodec, AnEmptyRecordComesBack) {
    EXPECT_EQ(decode(encode(record{}, 0)).value().it, record{});
}

TEST(RecordCodec, TimesBeforeTheEpochComeBack) {
    record it;
    it.lease_until = time_point{seconds{-5}};

    EXPECT_EQ(decode(encode(it, 1)).value().it, it);
}

TEST(RecordCodec, ARemovedRecordLeavesItsFence) {
    const auto got = decode(encode_grave(77)).value();

    EXPECT_FALSE(got.it);
    EXPECT_EQ(got.fence_floor, 77U);
}

// The scripts rely on these places.
TEST(RecordCodec, TheFixedPartIsWhereTheScriptsLookForIt) {
    const record it = full_record();
    const std::string bytes = encode(it, 0x01020304);

    EXPECT_EQ(bytes.substr(0, owned_bytes), encode_owned(it.state, it.holder));
    EXPECT_EQ(bytes.substr(10, 16), encode_owner(it.holder.owner));
    EXPECT_EQ(bytes.substr(26, 4), "\x01\x02\x03\x04"s);
    EXPECT_EQ(bytes.substr(104, 32), std::string(32, '\xAB'));
    EXPECT_EQ(bytes.substr(136, 4), "\0\0\0\x07"s);
    EXPECT_EQ(bytes.substr(kept_bytes, it.attributes.size()), it.attributes);
    EXPECT_TRUE(bytes.ends_with(encode_end(it.error, it.result)));
}

TEST(RecordCodec, TheRestOfAFirstAttemptIsThatOfItsRecord) {
    const commands::begin what{
        .content = content_of(std::byte{1}), .policy = {.attempts_max = 2}, .attributes = "{}"};
    record it;
    it.attempts = 1;
    it.policy = what.policy;
    it.content = what.content;
    it.attributes = what.attributes;

    EXPECT_EQ(encode_rest(what), encode(it, 1).substr(78));
}

TEST(RecordCodec, ATruncatedValueIsCorrupt) {
    const std::string bytes = encode(full_record(), 1);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        const auto got = decode(std::string_view{bytes}.substr(0, size));
        ASSERT_FALSE(got) << size;
        EXPECT_EQ(got.error().code, errc::corrupt) << size;
    }
    EXPECT_EQ(decode(bytes + "x").error().code, errc::corrupt);
    EXPECT_EQ(decode(encode_grave(1).substr(0, 5)).error().code, errc::corrupt);
}

TEST(RecordCodec, ValuesThatDoNotExistAreCorrupt) {
    std::string state = encode(record{}, 1);
    state[1] = 4;
    std::string policy = encode(record{}, 1);
    policy[102] = 3;

    EXPECT_EQ(decode(state).error().code, errc::corrupt);
    EXPECT_EQ(decode(policy).error().code, errc::corrupt);
}

TEST(RecordCodec, ANewerFormatIsSaidToBeSo) {
    std::string bytes = encode(record{}, 1);
    bytes[0] = 9;

    const auto got = decode(bytes);

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::schema_newer);
}

TEST(RecordCodecFuzz, DamagedBytesAreRefusedOrGiveARecord) {
    const std::string good = encode(full_record(), 1);
    std::mt19937 random{1};
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = good;
        for (std::size_t i = 1 + random() % 3; i > 0; --i) {
            bytes[random() % bytes.size()] = static_cast<char>(random());
        }
        const auto got = decode(bytes);
        if (got && got->it) {
            EXPECT_LE(got->it->result.body.size(), bytes.size());
        }
    }
}

TEST(RecordCodec, AnAuditEntryComesBack) {
    const audit_entry entry{.at = day_one,
                            .act = "remove",
                            .actor = "anna",
                            .reason = "te\0st"s,
                            .fence = 5,
                            .from = record_state::succeeded};

    EXPECT_EQ(decode_audit(encode(entry)).value(), entry);
    EXPECT_EQ(decode_audit(encode(entry).substr(1)).error().code, errc::corrupt);
}

TEST(RecordCodec, AnAuditEntryWithoutStatesIsFromBeforeTheyWereKept) {
    const audit_entry entry{
        .at = day_one, .act = "remove", .actor = "anna", .reason = "test", .fence = 5};
    const std::string now = encode(entry);

    EXPECT_EQ(decode_audit(now.substr(0, now.size() - 2)).value(), entry);
}

} // namespace
} // namespace semel::redis
