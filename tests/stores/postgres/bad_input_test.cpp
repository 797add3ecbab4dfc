// Everything that can be wrong at start: a named error that says what to do.
#include <gmock/gmock.h>

#include <cstdlib>

#include "elder_server.hpp"
#include "postgres_fixture.hpp"

namespace semel {
namespace {

using testing::HasSubstr;
using testing::Not;

class PostgresBadInput : public postgres_test {
protected:
    // The server's URL with other parts: user (and password), database, parameters.
    static std::string url_with(const std::string& user, const std::string& database) {
        const std::string url = testing_support::postgres_url();
        const auto at = url.find('@');
        const auto slash = url.rfind('/');
        return "postgres://" + user + url.substr(at, slash - at) + "/" + database;
    }

    static failure why_not(const std::string& url) {
        auto opened = semel::open_store(url);
        if (opened) return {.code = errc::internal, .detail = "it could be opened"};
        return std::move(opened).error();
    }
};

TEST_F(PostgresBadInput, AWrongPasswordSaysSoAndIsNotRepeated) {
    const auto got = why_not(url_with("secret:wrong", "semel"));

    EXPECT_EQ(got.code, errc::invalid_argument) << describe(got);
    EXPECT_EQ(got.possible, effect::none);
    EXPECT_THAT(got.detail, HasSubstr("check the user name and the password"));
    EXPECT_THAT(got.detail, Not(HasSubstr("wrong@")));
}

TEST_F(PostgresBadInput, AWrongUserSaysSo) {
    const auto got = why_not(url_with("nobody", "semel"));

    EXPECT_EQ(got.code, errc::invalid_argument) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("check the user name"));
}

TEST_F(PostgresBadInput, AWrongDatabaseSaysSo) {
    const auto got = why_not(url_with("semel", "nowhere"));

    EXPECT_EQ(got.code, errc::invalid_argument) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("CREATE DATABASE"));
}

TEST_F(PostgresBadInput, MissingTablesNameTheCommandThatMakesThem) {
    const auto got = why_not(testing_support::postgres_url() + "?prefix=not_there_");

    EXPECT_EQ(got.code, errc::schema_missing) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("not_there_"));
    EXPECT_THAT(got.detail, HasSubstr("semel migrate --store"));
}

TEST_F(PostgresBadInput, OlderTablesAskForTheMigration) {
    sql("DELETE FROM " + prefix() + "meta WHERE name = 'schema_version'");
    const auto got = why_not(url());

    EXPECT_EQ(got.code, errc::schema_missing) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("semel migrate --store"));
}

TEST_F(PostgresBadInput, NewerTablesAreLeftAlone) {
    sql("UPDATE " + prefix() + "meta SET value = 99 WHERE name = 'schema_version'");
    const auto opened = why_not(url());
    const auto migrated = migrate(url(), migrate_mode::run);

    EXPECT_EQ(opened.code, errc::schema_newer) << describe(opened);
    EXPECT_THAT(opened.detail, HasSubstr("version 99"));
    ASSERT_FALSE(migrated);
    EXPECT_EQ(migrated.error().code, errc::schema_newer);
}

TEST_F(PostgresBadInput, AReadOnlyServerIsRefused) {
    const auto got = why_not(url() + "&options=-c%20default_transaction_read_only%3Don");

    EXPECT_EQ(got.code, errc::read_only) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("name the primary"));
}

TEST_F(PostgresBadInput, AReadOnlyServerMayBeLookedAt) {
    const auto opened = semel::open_store(
        url() + "&options=-c%20default_transaction_read_only%3Don", {.mode = open_mode::read_only});

    ASSERT_TRUE(opened) << describe(opened.error());
    EXPECT_FALSE(said<answers::found>((*opened)->call(id_of("k"), commands::lookup{})).current);
}

TEST_F(PostgresBadInput, ASettingThatTheServerDoesNotKnowIsNotAMatterOfTables) {
    const auto got = why_not(url() + "&options=-cnosuch%3D1");

    EXPECT_EQ(got.code, errc::invalid_argument) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("nosuch"));
    EXPECT_THAT(got.detail, HasSubstr("options="));
    EXPECT_THAT(got.detail, Not(HasSubstr("migrate")));
}

TEST_F(PostgresBadInput, AServerThatIsTooOldIsNamedWithTheVersionItTakes) {
    const testing_support::elder_server server{"12.22"};

    const auto got = why_not(server.url());

    EXPECT_EQ(got.code, errc::unsupported) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("version is 12"));
    EXPECT_THAT(got.detail, HasSubstr("PostgreSQL 13 or newer"));
}

TEST_F(PostgresBadInput, NobodyAtThatPort) {
    const auto got = why_not("postgres://semel@127.0.0.1:1/semel");

    EXPECT_EQ(got.code, errc::unavailable) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("check that the server runs"));
}

TEST_F(PostgresBadInput, ACertificateOfAnUnknownAuthorityIsRefused) {
    const auto got = why_not(url() + "&sslmode=verify-full&sslrootcert=" SEMEL_SOURCE_DIR
                                     "/tests/stores/postgres/another_authority.crt");

    EXPECT_EQ(got.code, errc::invalid_argument) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("sslrootcert="));
}

TEST_F(PostgresBadInput, ACertificateForThisHostIsAccepted) {
    const char* const authority = std::getenv("SEMEL_TEST_CA");
    ASSERT_NE(authority, nullptr);

    EXPECT_TRUE(semel::open_store(url() + "&sslmode=verify-full&sslrootcert=" + authority));
}

TEST_F(PostgresBadInput, ParametersOutOfRangeAreNamed) {
    EXPECT_THAT(why_not(url() + "&lanes=1000").detail, HasSubstr("lanes"));
    EXPECT_THAT(why_not(url() + "&lanes=none").detail, HasSubstr("lanes"));
    EXPECT_THAT(why_not(url() + "&colour=red").detail, HasSubstr("colour"));
    EXPECT_THAT(why_not(testing_support::postgres_url() + "?prefix=Orders_").detail,
                HasSubstr("lower-case"));
}

TEST_F(PostgresBadInput, AUserWhoMayNotWriteIsToldWhatToGrant) {
    const auto opened =
        semel::open_store(url_with("secret:right", "semel") + "?prefix=" + prefix() + "&lanes=1");

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::read_only) << describe(opened.error());
    EXPECT_THAT(opened.error().detail, HasSubstr("grant this user"));
}

// The server does not tell a schema that may not be used from one without tables.
TEST_F(PostgresBadInput, AUserWhoMayNotSeeTheTablesIsToldThatThisMayBeSo) {
    const std::string hidden = prefix() + "hidden";
    sql("CREATE SCHEMA " + hidden);
    const std::string there = "?prefix=" + prefix() + "&lanes=1&options=-csearch_path%3D" + hidden;
    (void)migrate(url_with("semel", "semel") + there, migrate_mode::run).value();

    const auto got = why_not(url_with("secret:right", "semel") + there);
    sql("DROP SCHEMA " + hidden + " CASCADE");

    EXPECT_EQ(got.code, errc::schema_missing) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("this user may not see them"));
}

} // namespace
} // namespace semel
