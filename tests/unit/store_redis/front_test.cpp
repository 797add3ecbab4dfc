// What a front's entries look like as bytes, what it asks, and what the answers mean.
#include <gmock/gmock.h>

#include "databases/redis/client/scripts.hpp"
#include "databases/redis/front/front_codec.hpp"
#include "databases/redis/front/front_task.hpp"
#include "unit/store_redis/scripted_transport.hpp"

namespace semel::redis {
namespace front_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using kind = front_entry::kind;

fingerprint some_content() {
    fingerprint::bytes_type bytes;
    bytes.fill(std::byte{0xAB});
    return fingerprint{bytes};
}

front_entry gate(kind what = kind::gate) {
    return {.what = what,
            .content = some_content(),
            .holder = {.fence = 0x0102030405060708, .owner = {.high = 3, .low = 4}},
            .attempt = 2,
            .grace = milliseconds{250},
            .lease_until = time_point{seconds{100}},
            .until = time_point{seconds{50}}};
}

front_entry end(kind what) {
    front_entry made{.what = what,
                     .content = {},
                     .holder = {.fence = 7, .owner = {}},
                     .attempt = 1,
                     .expires_at = time_point{seconds{1'000}}};
    if (what == kind::replay) {
        made.result = {.body = std::string{"b\0dy", 4}, .type = "t", .ref = "r"};
        seal(made.result);
    } else {
        made.error = "no";
    }
    return made;
}

std::string asked(const front_task& one) {
    std::string made;
    one.ask(made);
    return made;
}

value reply_of(std::string_view bytes) {
    value made;
    EXPECT_EQ(parse(bytes, made).status, parse_status::complete);
    return made;
}

TEST(RedisFrontCodec, EntriesComeBackAsTheyWere) {
    for (const auto& one :
         {gate(), gate(kind::rumour), end(kind::replay), end(kind::failed), front_entry{}}) {
        const auto got = decode_sight(encode_entry(9, one)).value();

        EXPECT_EQ(got.token, 9U);
        EXPECT_EQ(got.entry, one);
    }
}

TEST(RedisFrontCodec, ATokenAloneHasNoEntry) {
    const auto got = decode_sight(encode_token(77)).value();

    EXPECT_EQ(got.token, 77U);
    EXPECT_FALSE(got.entry);
}

TEST(RedisFrontCodec, TheHeadLiesWhereTheScriptsLookForIt) {
    const std::string bytes = encode_entry(9, gate());

    EXPECT_EQ(bytes[0], 'g');
    EXPECT_EQ(bytes.substr(1, 8), encode_token(9).substr(1));
    EXPECT_EQ(bytes.substr(9, 24), encode_claim(gate().holder));
    EXPECT_EQ(bytes.substr(78), encode_tail(gate()));
}

TEST(RedisFrontCodec, EveryShortenedValueIsRefused) {
    const std::string whole = encode_entry(9, end(kind::replay));

    for (std::size_t size = 0; size < whole.size(); ++size) {
        EXPECT_FALSE(decode_sight(whole.substr(0, size))) << size;
    }
    EXPECT_FALSE(decode_sight(whole + "x"));
    EXPECT_FALSE(decode_sight("?" + whole.substr(1)));
}

TEST(RedisFrontTask, ALookIsOneCommandThatLeavesItsToken) {
    front_task one{"k", fronts::look{.token = 5, .life = seconds{30}}};
    EXPECT_THAT(asked(one), AllOf(HasSubstr("$3\r\nSET\r\n"), HasSubstr("$2\r\nNX\r\n"),
                                  HasSubstr("$3\r\nGET\r\n"), HasSubstr("30000")));

    one.hear(reply_of("$-1\r\n"));

    const auto got = one.take().value();
    EXPECT_EQ(got.token, 5U);
    EXPECT_FALSE(got.entry);
}

TEST(RedisFrontTask, ALookSeesWhatIsThere) {
    front_task one{"k", fronts::look{.token = 5, .life = seconds{30}}};
    const std::string stored = bulk(encode_entry(9, gate()));

    one.hear(reply_of(stored));

    const auto got = one.take().value();
    EXPECT_EQ(got.token, 9U);
    EXPECT_EQ(got.entry, gate());
}

TEST(RedisFrontTask, AnUnknownScriptIsSpelledOut) {
    front_task one{"k", fronts::put{.token = 5, .entry = gate(), .life = seconds{20}}};
    EXPECT_THAT(asked(one), HasSubstr(std::string{text_of(script::front_put).sha1}));

    one.hear(reply_of("-NOSCRIPT No matching script.\r\n"));

    EXPECT_FALSE(one.answered());
    EXPECT_THAT(asked(one), HasSubstr(std::string{text_of(script::front_put).text}));
    one.hear(reply_of(":1\r\n"));
    EXPECT_TRUE(one.answered() && !one.failed());
}

TEST(RedisFrontTask, AnErrorIsAFailure) {
    front_task one{"k", fronts::forget{}};

    one.hear(reply_of("-READONLY You can't write against a read only replica.\r\n"));

    EXPECT_TRUE(one.failed());
    EXPECT_EQ(one.take().error().code, errc::read_only);
}

TEST(RedisFrontTask, NothingIsAskedForAPass) {
    front_task one{"k", fronts::pass{}};

    EXPECT_EQ(asked(one), "");
    EXPECT_TRUE(one.answered());
}

TEST(RedisFrontTask, NoLifeIsTooShortToBeTold) {
    const front_task one{"k", fronts::look{.token = 5, .life = duration{1}}};

    EXPECT_THAT(asked(one), AllOf(HasSubstr("$1\r\n1\r\n"), Not(HasSubstr("$1\r\n0\r\n"))));
}

} // namespace
} // namespace front_test
} // namespace semel::redis
