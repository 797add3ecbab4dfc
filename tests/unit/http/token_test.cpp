#include "semel/http/tenant.hpp"

#include <gtest/gtest.h>

namespace semel::http::token_test {
namespace {

grant of(std::string tenant, scope_set may) {
    return {.tenant = std::move(tenant), .may = may};
}

TEST(Scopes, AreReadAndWrittenAsAList) {
    EXPECT_EQ(to_string(parse_scopes("read,use").value()), "use,read");
    EXPECT_EQ(to_string(parse_scopes("admin").value()), "admin");
    for (const char* wrong : {"", ",", "use,", "write", "use,use", "use, read", "USE"}) {
        EXPECT_EQ(parse_scopes(wrong).error().code, errc::invalid_argument) << wrong;
    }
}

TEST(Scopes, AdminMayWhatTheOthersMay) {
    const scope_set admin{scope::admin};
    const scope_set use{scope::use};

    EXPECT_TRUE(admin.allows(scope::use) && admin.allows(scope::read));
    EXPECT_TRUE(use.allows(scope::use));
    EXPECT_FALSE(use.allows(scope::read) || use.allows(scope::admin));
}

TEST(TokenTable, FindsATokenByItsHashOnly) {
    token_table table;
    table.add(fingerprint::raw("t"), of("acme", scope_set{scope::use})).value();

    EXPECT_EQ(table.find("t"), of("acme", scope_set{scope::use}));
    EXPECT_FALSE(table.find("u"));
    EXPECT_FALSE(table.find(""));
    EXPECT_FALSE(table.find(fingerprint::raw("t").hex()));
}

TEST(TokenTable, RefusesWhatGivesNothingOrTwoThings) {
    token_table table;
    const fingerprint hash = fingerprint::raw("t");
    table.add(hash, of("acme", scope_set{scope::use})).value();

    EXPECT_FALSE(table.add(hash, of("bolt", scope_set{scope::use})));
    EXPECT_FALSE(table.add(fingerprint::raw("u"), of("", scope_set{scope::use})));
    EXPECT_FALSE(table.add(fingerprint::raw("u"), of("acme", {})));
    EXPECT_EQ(table.size(), 1U);
    EXPECT_EQ(table.find("t")->tenant, "acme");
}

// Two hashes whose first bytes are the same stand in one place; each still finds its own.
TEST(TokenTable, ComparesWholeHashes) {
    token_table table;
    fingerprint::bytes_type bytes = fingerprint::raw("t").bytes();
    bytes[31] ^= std::byte{1};
    table.add(fingerprint{bytes}, of("bolt", scope_set{scope::use})).value();

    EXPECT_FALSE(table.find("t"));
    table.add(fingerprint::raw("t"), of("acme", scope_set{scope::use})).value();
    EXPECT_EQ(table.find("t")->tenant, "acme");
}

TEST(BearerToken, IsOneWellFormedLine) {
    EXPECT_EQ(bearer_token({{"authorization", "bearer  abc "}}), "abc");
    EXPECT_FALSE(bearer_token({}));
    EXPECT_FALSE(bearer_token({{"Authorization", "Basic abc"}}));
    EXPECT_FALSE(bearer_token({{"Authorization", "Bearer "}}));
    EXPECT_FALSE(bearer_token({{"Authorization", "Bearer a"}, {"Authorization", "Bearer a"}}));
}

} // namespace
} // namespace semel::http::token_test
