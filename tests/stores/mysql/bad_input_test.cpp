// Everything that can be wrong at start: a named error that says what to do.
#include <gmock/gmock.h>

#include <cstdlib>

#include "mysql_fixture.hpp"

namespace semel {
namespace {

using testing::HasSubstr;
using testing::Not;

class MysqlBadInput : public mysql_test {
protected:
    // The server's URL with another user, password and database.
    static std::string url_with(const std::string& user, const std::string& database) {
        return "mysql://" + user + "@127.0.0.1:" + std::to_string(testing_support::mysql_port()) +
               "/" + database;
    }

    static failure why_not(const std::string& url) {
        auto opened = semel::open_store(url);
        if (opened) return {.code = errc::internal, .detail = "it could be opened"};
        return std::move(opened).error();
    }
};

TEST_F(MysqlBadInput, AWrongPasswordSaysSoAndIsNotRepeated) {
    const auto got = why_not(url_with("semel:mistaken", "semel"));

    EXPECT_EQ(got.code, errc::invalid_argument) << describe(got);
    EXPECT_EQ(got.possible, effect::none);
    EXPECT_THAT(got.detail, HasSubstr("check the user name and the password"));
    EXPECT_THAT(got.detail, Not(HasSubstr("mistaken")));
}

TEST_F(MysqlBadInput, AWrongUserSaysSo) {
    const auto got = why_not(url_with("nobody:x", "semel"));

    EXPECT_EQ(got.code, errc::invalid_argument) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("check the user name"));
}

TEST_F(MysqlBadInput, AWrongDatabaseSaysSo) {
    const auto got = why_not(url_with("semel:semel", "nowhere"));

    EXPECT_EQ(got.code, errc::invalid_argument) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("CREATE DATABASE"));
}

TEST_F(MysqlBadInput, AUrlThatSaysTooLittleIsRefused) {
    EXPECT_THAT(why_not("mysql://semel@127.0.0.1").detail, HasSubstr("names no database"));
    EXPECT_THAT(why_not("mysql:semel").detail, HasSubstr("mysql://user:password@host"));
    EXPECT_THAT(why_not("mysql://semel@127.0.0.1:x/semel").detail, HasSubstr("port"));
}

TEST_F(MysqlBadInput, MissingTablesNameTheCommandThatMakesThem) {
    const auto got = why_not(testing_support::mysql_url() + "?prefix=not_there_");

    EXPECT_EQ(got.code, errc::schema_missing) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("not_there_"));
    EXPECT_THAT(got.detail, HasSubstr("semel migrate --store"));
}

TEST_F(MysqlBadInput, OlderTablesAskForTheMigration) {
    sql("DELETE FROM " + prefix() + "meta WHERE name = 'schema_version'");
    const auto got = why_not(url());

    EXPECT_EQ(got.code, errc::schema_missing) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("semel migrate --store"));
}

TEST_F(MysqlBadInput, NewerTablesAreLeftAlone) {
    sql("UPDATE " + prefix() + "meta SET value = 99 WHERE name = 'schema_version'");
    const auto opened = why_not(url());
    const auto migrated = migrate(url(), migrate_mode::run);

    EXPECT_EQ(opened.code, errc::schema_newer) << describe(opened);
    EXPECT_THAT(opened.detail, HasSubstr("version 99"));
    ASSERT_FALSE(migrated);
    EXPECT_EQ(migrated.error().code, errc::schema_newer);
}

TEST_F(MysqlBadInput, NobodyAtThatPort) {
    const auto got = why_not("mysql://semel@127.0.0.1:1/semel");

    EXPECT_EQ(got.code, errc::unavailable) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("check that the server runs"));
}

TEST_F(MysqlBadInput, ACertificateOfAnUnknownAuthorityIsRefused) {
    const auto got =
        why_not(url() + "&ca_file=" SEMEL_SOURCE_DIR "/tests/stores/mysql/another_authority.crt");

    EXPECT_EQ(got.code, errc::invalid_argument) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("ca_file="));
}

TEST_F(MysqlBadInput, WithoutAnAuthorityOfItsOwnTheSystemsAreAsked) {
    const auto got = why_not(url() + "&tls=verify");

    EXPECT_EQ(got.code, errc::invalid_argument) << describe(got);
}

TEST_F(MysqlBadInput, ACertificateForThisHostIsAcceptedAndTheConnectionEncrypted) {
    const char* const authority = std::getenv("SEMEL_TEST_CA");
    ASSERT_NE(authority, nullptr);
    testing_support::mysql_client admin{testing_support::mysql_port(), "root", ""};
    const std::string user = prefix() + "tls";
    admin.sql("CREATE USER " + user + " IDENTIFIED BY 'x' REQUIRE SSL");
    admin.sql("GRANT ALL ON semel.* TO " + user);

    const auto open = url_with(user + ":x", "semel") + "?prefix=" + prefix();
    const auto encrypted = semel::open_store(open + "&ca_file=" + authority);
    const auto unverified = semel::open_store(open + "&tls=unverified");
    const auto plain = semel::open_store(open);
    admin.sql("DROP USER " + user);

    EXPECT_TRUE(encrypted) << describe(encrypted.error());
    EXPECT_TRUE(unverified) << describe(unverified.error());
    EXPECT_FALSE(plain);
}

// MySQL has not seen the password before, and gives out a key to encrypt it with.
TEST_F(MysqlBadInput, ANewUserLogsInWithoutTls) {
    testing_support::mysql_client admin{testing_support::mysql_port(), "root", ""};
    const std::string user = prefix() + "new";
    admin.sql("CREATE USER " + user + " IDENTIFIED BY 'x'");
    admin.sql("GRANT ALL ON semel.* TO " + user);

    const auto opened = semel::open_store(url_with(user + ":x", "semel") + "?prefix=" + prefix());
    admin.sql("DROP USER " + user);

    EXPECT_TRUE(opened) << describe(opened.error());
}

TEST_F(MysqlBadInput, AMissingCertificateFileIsNamed) {
    EXPECT_THAT(why_not(url() + "&ca_file=/nowhere.crt").detail, HasSubstr("/nowhere.crt"));
    EXPECT_THAT(why_not(url() + "&tls=maybe").detail, HasSubstr("off, unverified or verify"));
}

TEST_F(MysqlBadInput, ParametersOutOfRangeAreNamed) {
    EXPECT_THAT(why_not(url() + "&lanes=1000").detail, HasSubstr("lanes"));
    EXPECT_THAT(why_not(url() + "&lanes=none").detail, HasSubstr("lanes"));
    EXPECT_THAT(why_not(url() + "&batch_max=100000").detail, HasSubstr("batch_max"));
    EXPECT_THAT(why_not(url() + "&colour=red").detail, HasSubstr("colour"));
    EXPECT_THAT(why_not(testing_support::mysql_url() + "?prefix=Orders_").detail,
                HasSubstr("lower-case"));
}

TEST_F(MysqlBadInput, AUserWhoMayNotWriteIsToldWhatToGrant) {
    testing_support::mysql_client admin{testing_support::mysql_port(), "root", ""};
    const std::string user = prefix() + "reader";
    admin.sql("CREATE USER " + user + " IDENTIFIED BY 'x'");
    admin.sql("GRANT SELECT ON semel.* TO " + user);

    const auto got = why_not(url_with(user + ":x", "semel") + "?prefix=" + prefix() + "&lanes=1");
    admin.sql("DROP USER " + user);

    EXPECT_EQ(got.code, errc::read_only) << describe(got);
    EXPECT_THAT(got.detail, HasSubstr("grant this user"));
}

} // namespace
} // namespace semel
