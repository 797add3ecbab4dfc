#include "semel/http/key_header.hpp"

#include <gtest/gtest.h>

namespace semel::http::key_header_test {
namespace {

constexpr key_options lenient() {
    return {};
}

key_options strict() {
    return {.form = key_form::strict};
}

key_reading reading(std::string value, const key_options& options) {
    return read_key({{"Idempotency-Key", std::move(value)}}, options);
}

// The key, or "!" and the fault.
std::string read(std::string value, const key_options& options = {}) {
    const key_reading got = reading(std::move(value), options);
    if (const auto* sent = std::get_if<sent_key>(&got)) return sent->key;
    if (std::holds_alternative<no_key>(got)) return "!none";
    switch (std::get<refused_key>(got).fault) {
    case key_fault::malformed: return "!malformed";
    case key_fault::repeated: return "!repeated";
    case key_fault::empty: return "!empty";
    case key_fault::too_short: return "!too_short";
    case key_fault::too_long: break;
    }
    return "!too_long";
}

TEST(I1_KeyHeader, IsFoundWhateverItsCase) {
    for (const char* name : {"Idempotency-Key", "idempotency-key", "IDEMPOTENCY-KEY"}) {
        const key_reading got = read_key({{"Host", "a"}, {name, "\"k\""}}, strict());

        ASSERT_TRUE(std::holds_alternative<sent_key>(got)) << name;
        EXPECT_EQ(std::get<sent_key>(got).key, "k");
        EXPECT_EQ(std::get<sent_key>(got).header, name);
        EXPECT_EQ(std::get<sent_key>(got).text, "\"k\"");
    }
    EXPECT_TRUE(std::holds_alternative<no_key>(read_key({{"Host", "a"}})));
}

TEST(I2_KeyHeader, IsAStringWithTwoEscapes) {
    EXPECT_EQ(read(R"("8e03978e-40d5-43dd-bc93-6894a57f9324")", strict()),
              "8e03978e-40d5-43dd-bc93-6894a57f9324");
    EXPECT_EQ(read(R"("a\"b\\c")", strict()), R"(a"b\c)");
    EXPECT_EQ(read(R"("a b,c;d")", strict()), "a b,c;d");
    EXPECT_EQ(read(R"("a\nb")", strict()), "!malformed");
    EXPECT_EQ(read(R"("a\)", strict()), "!malformed");
}

TEST(I3_KeyHeader, IgnoresSpacesAroundAndParametersBehind) {
    EXPECT_EQ(read(R"(  "k"  )", strict()), "k");
    EXPECT_EQ(read(R"("k";a;b=1; c="x;y";d=?0;e=:YQ==:;f=@-1;g=%"%c3%a9";h=1.5;*i=t/x)", strict()),
              "k");
    EXPECT_EQ(read(R"("k";a=1)", lenient()), "k");
    for (const char* odd :
         {R"("k";)", R"("k";A=1)", R"("k";a=)", R"("k"; =1)", R"("k" ;a)", R"("k";a=1.2345)",
          R"("k";a=1234567890123456)", R"("k";a=")", R"("k";a=:Y)", R"("k";a=?2)",
          R"("k";a=%"%C3")", R"("k";a=(1 2))", R"("k";a=@x)", R"("k"x)"}) {
        EXPECT_EQ(read(odd, strict()), "!malformed") << odd;
        EXPECT_EQ(read(odd, lenient()), "!malformed") << odd;
    }
}

TEST(I4_KeyHeader, OfAnotherTypeIsInvalidWhenStrict) {
    for (const char* odd :
         {"token", "42", "-1.5", ":YWJj:", "%\"abc\"", "(\"a\" \"b\")", "?1", "@1659578233",
          "\"open", "\"tab\there\"", "\"f\xC3\xBC\"", "'k'", "\"a\x7F\"", "k\"", "\"\\u0041\""}) {
        EXPECT_EQ(read(odd, strict()), "!malformed") << odd;
    }
    EXPECT_EQ(read(std::string{"\"a\0b\"", 5}, strict()), "!malformed");
}

TEST(I5_KeyHeader, SentTwiceOrJoinedIsInvalid) {
    const header_list two{{"Idempotency-Key", "\"a\""}, {"idempotency-key", "\"a\""}};

    const key_reading got = read_key(two);

    ASSERT_TRUE(std::holds_alternative<refused_key>(got));
    EXPECT_EQ(std::get<refused_key>(got).fault, key_fault::repeated);
    for (const char* joined : {R"("a", "b")", R"("a","a")", "a, b", "a,b", R"("a",)", ",a"}) {
        EXPECT_EQ(read(joined), "!malformed") << joined;
        EXPECT_EQ(read(joined, strict()), "!malformed") << joined;
    }
}

TEST(I6_KeyHeader, BareAndQuotedAreTheSameKeyUnlessStrict) {
    EXPECT_EQ(read("k"), read("\"k\""));
    EXPECT_EQ(read("550e8400-e29b-41d4-a716-446655440000"), "550e8400-e29b-41d4-a716-446655440000");
    EXPECT_EQ(read("order/17+x==:y@z"), "order/17+x==:y@z");
    EXPECT_EQ(read("k", strict()), "!malformed");
}

TEST(KeyHeader, BareWithBytesThatMeanSomethingElseIsMalformed) {
    for (const char* odd :
         {"a b", "a;b", "a\\b", "a\"b", "f\xC3\xBC", "a\tb", "a\x7F", "\"a", "a\rb"}) {
        EXPECT_EQ(read(odd), "!malformed") << odd;
    }
}

TEST(I16_KeyHeader, IsHeldAgainstThePublishedLengths) {
    const key_options sixteen{.bytes_min = 16};

    EXPECT_EQ(read(std::string(15, 'k'), sixteen), "!too_short");
    EXPECT_EQ(read(std::string(16, 'k'), sixteen), std::string(16, 'k'));
    EXPECT_EQ(read(std::string(255, 'k')), std::string(255, 'k'));
    EXPECT_EQ(read(std::string(256, 'k')), "!too_long");
    EXPECT_EQ(read("\"" + std::string(256, 'k') + "\"", strict()), "!too_long");
    EXPECT_EQ(read(""), "!empty");
    EXPECT_EQ(read("  "), "!empty");
    EXPECT_EQ(read("\"\""), "!empty");
}

TEST(S2_KeyHeader, TakesUpTo255CharactersWithoutTheirEscapes) {
    std::string text = "\"";
    for (int i = 0; i < 255; ++i) text += "\\\"";

    EXPECT_EQ(read(text + "\""), std::string(255, '"'));
    EXPECT_EQ(read(text + "x\""), "!too_long");
}

TEST(R14_KeyHeader, KeepsCaseAndBlanksInsideTheKey) {
    EXPECT_EQ(read("\"Key\""), "Key");
    EXPECT_EQ(read("\"key \""), "key ");
    EXPECT_EQ(read("\" key\""), " key");
}

TEST(KeyHeader, MayHaveOtherNames) {
    const key_options names{.headers = {"Idempotency-Key", "X-Request-Key"}};

    const key_reading other = read_key({{"x-request-key", "k"}}, names);
    const key_reading both = read_key({{"x-request-key", "k"}, {"Idempotency-Key", "k"}}, names);
    const key_reading unknown = read_key({{"X-Idempotency-Key", "k"}}, names);

    EXPECT_EQ(std::get<sent_key>(other).key, "k");
    EXPECT_EQ(std::get<refused_key>(both).fault, key_fault::repeated);
    EXPECT_TRUE(std::holds_alternative<no_key>(unknown));
}

TEST(KeyHeader, RefusalsDoNotQuoteWhatWasSent) {
    const key_reading got = reading("secret value", strict());

    EXPECT_EQ(std::get<refused_key>(got).detail.find("secret"), std::string::npos);
}

TEST(SpellKey, IsReadBackAsTheSameKey) {
    for (const std::string& key : {std::string{"k"}, std::string{"a b"}, std::string{"a\"b\\c"},
                                   std::string{"a,b;c"}, std::string{"order-17:payment"}}) {
        EXPECT_EQ(read(spell_key(key, key_form::strict), strict()), key);
        EXPECT_EQ(read(spell_key(key, key_form::lenient)), key);
    }
    EXPECT_EQ(spell_key("k", key_form::lenient), "k");
    EXPECT_EQ(spell_key("k", key_form::strict), "\"k\"");
    EXPECT_EQ(spell_key("", key_form::lenient), "\"\"");
}

TEST(SpellKey, WritesAKeyThatCannotBeSpeltAsItsDigest) {
    const std::string spelt = spell_key("a\r\nb", key_form::lenient);

    EXPECT_EQ(spelt.substr(0, 7), "sha256-");
    EXPECT_EQ(spelt.size(), 71U);
    EXPECT_NE(spelt, spell_key("a\nb", key_form::lenient));
}

} // namespace
} // namespace semel::http::key_header_test
