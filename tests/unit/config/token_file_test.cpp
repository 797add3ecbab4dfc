#include "config/token_file.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <stdlib.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

namespace semel::config::token_file_test {
namespace {

using testing::HasSubstr;

token_line line_for(std::string_view token, std::string tenant = "acme") {
    return {.hash = fingerprint::raw(token),
            .gives = {.tenant = std::move(tenant), .may = http::scope_set{http::scope::use}},
            .created = "2026-01-31T12:00:00Z",
            .comment = "the shop's"};
}

class TokenFile : public testing::Test {
protected:
    TokenFile() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        path_ = folder_ + "/tokens.txt";
    }
    ~TokenFile() override { std::filesystem::remove_all(folder_); }

    std::string folder_;
    std::string path_;
};

TEST(TokenText, ALineIsReadAsItWasWritten) {
    const token_line line = line_for("secret");

    const auto read = parse_tokens("# tokens\n\n" + to_text(line), "tokens.txt").value();

    ASSERT_EQ(read.size(), 1U);
    EXPECT_EQ(read[0].hash, line.hash);
    EXPECT_EQ(read[0].gives, line.gives);
    EXPECT_EQ(read[0].created, line.created);
    EXPECT_EQ(read[0].comment, line.comment);
    EXPECT_EQ(to_text(line).find("secret"), std::string::npos);
}

TEST(TokenText, AWrongLineIsNamed) {
    const std::string good = to_text(line_for("t"));
    const auto why = [&](const std::string& text) {
        const auto got = parse_tokens(text, "tokens.txt");
        return got ? std::string{"fine"} : got.error().detail;
    };

    EXPECT_THAT(why(good + "abc acme use x\n"), HasSubstr("tokens.txt:2: must begin with a hash"));
    EXPECT_THAT(why(good.substr(0, 64) + "\n"), HasSubstr("tokens.txt:1: has no tenant"));
    EXPECT_THAT(why(good.substr(0, 64) + " acme all x\n"), HasSubstr("scopes are use, read"));
    EXPECT_EQ(why(good.substr(0, good.size() - 1)), "fine");
}

TEST(NewToken, IsLongAndNeverTheSame) {
    std::set<std::string> seen;
    for (int i = 0; i < 100; ++i) seen.insert(new_token());

    EXPECT_EQ(seen.size(), 100U);
    for (const std::string& one : seen) {
        EXPECT_TRUE(one.starts_with("semel_"));
        EXPECT_EQ(one.size(), 6U + 43U);
    }
}

TEST_F(TokenFile, IsMadeForItsOwnerOnly) {
    append_token(path_, line_for("a")).value();
    append_token(path_, line_for("b", "bolt")).value();

    struct stat about {};
    ASSERT_EQ(::stat(path_.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
    const auto file = read_tokens(path_).value();
    EXPECT_EQ(file.to_others, exposure::none);
    const auto table = to_table(file.lines).value();
    EXPECT_EQ(table.find("a")->tenant, "acme");
    EXPECT_EQ(table.find("b")->tenant, "bolt");
    EXPECT_FALSE(table.find("c"));
}

TEST_F(TokenFile, ALineWithoutAnEndIsNotSpoilt) {
    const std::string first = to_text(line_for("a"));
    std::ofstream{path_} << first.substr(0, first.size() - 1);
    std::filesystem::permissions(path_, std::filesystem::perms{0600});

    append_token(path_, line_for("b")).value();

    EXPECT_EQ(read_tokens(path_).value().lines.size(), 2U);
}

TEST_F(TokenFile, NothingIsAddedToWhatIsNoTokenFile) {
    std::ofstream{path_} << "hello\n";

    EXPECT_FALSE(append_token(path_, line_for("a")));
    EXPECT_EQ(std::filesystem::file_size(path_), 6U);
}

TEST_F(TokenFile, OthersMayReadButNotWrite) {
    append_token(path_, line_for("a")).value();

    std::filesystem::permissions(path_, std::filesystem::perms{0644});
    EXPECT_EQ(read_tokens(path_).value().to_others, exposure::readable);
    std::filesystem::permissions(path_, std::filesystem::perms{0622});
    EXPECT_THAT(read_tokens(path_).error().detail, HasSubstr("may write to it"));
}

TEST_F(TokenFile, RevokingKeepsTheOthersAndTheMode) {
    std::ofstream{path_} << "# the shop's\n";
    for (const char* one : {"a", "b", "c"}) append_token(path_, line_for(one)).value();
    std::filesystem::permissions(path_, std::filesystem::perms{0640});

    EXPECT_EQ(revoke_token(path_, line_for("b").id()).value(), 1U);

    const auto table = to_table(read_tokens(path_).value().lines).value();
    EXPECT_TRUE(table.find("a") && table.find("c"));
    EXPECT_FALSE(table.find("b"));
    struct stat about {};
    ASSERT_EQ(::stat(path_.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0640U);
    std::string first;
    std::getline(std::ifstream{path_} >> std::ws, first);
    EXPECT_EQ(first, "# the shop's");
    EXPECT_EQ(revoke_token(path_, line_for("b").id()).value(), 0U);
}

// Tokens are managed by root, and read by a server that is not.
TEST_F(TokenFile, AddingAndRevokingKeepTheOwner) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
    append_token(path_, line_for("a")).value();
    ASSERT_EQ(::chown(path_.c_str(), 65'534, 65'533), 0);

    append_token(path_, line_for("b")).value();
    ASSERT_EQ(revoke_token(path_, line_for("a").id()).value(), 1U);

    struct stat about {};
    ASSERT_EQ(::stat(path_.c_str(), &about), 0);
    EXPECT_EQ(about.st_uid, 65'534U);
    EXPECT_EQ(about.st_gid, 65'533U);
    EXPECT_EQ(about.st_mode & 0777U, 0600U);
}

TEST_F(TokenFile, NothingIsWrittenThroughALinkThatWasLaidInTheWay) {
    const std::string victim = path_ + ".victim";
    std::ofstream{victim} << "precious\n";
    append_token(path_, line_for("a")).value();
    append_token(path_, line_for("b")).value();
    std::filesystem::create_symlink(victim, path_ + ".new");

    ASSERT_EQ(revoke_token(path_, line_for("a").id()).value(), 1U);

    EXPECT_FALSE(std::filesystem::is_symlink(path_));
    std::string kept;
    std::getline(std::ifstream{victim}, kept);
    EXPECT_EQ(kept, "precious");
    std::filesystem::remove(path_ + ".new");
    std::filesystem::remove(victim);
}

TEST_F(TokenFile, ALinkOfTheOperatorsStaysALink) {
    const std::string link = path_ + ".link";
    append_token(path_, line_for("a")).value();
    std::filesystem::create_symlink(path_, link);

    append_token(link, line_for("b")).value();
    ASSERT_EQ(revoke_token(link, line_for("a").id()).value(), 1U);

    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(read_tokens(path_).value().lines.size(), 1U);
    std::filesystem::remove(path_);
    EXPECT_FALSE(append_token(link, line_for("c"))) << "made what a link to nothing names";
    std::filesystem::remove(link);
}

TEST_F(TokenFile, AnIdThatMeansTwoRevokesNone) {
    append_token(path_, line_for("a")).value();
    append_token(path_, line_for("b")).value();

    EXPECT_FALSE(revoke_token(path_, ""));
    EXPECT_EQ(read_tokens(path_).value().lines.size(), 2U);
}

TEST_F(TokenFile, OneThatIsNotThereIsAFailure) {
    EXPECT_FALSE(read_tokens(path_));
    EXPECT_FALSE(revoke_token(path_, "abcdef"));
}

TEST(TokenText, TheReservedTenantIsRefusedByName) {
    const auto got = parse_tokens(std::string(64, 'a') + " semel use now\n", "tokens.txt");

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().detail.rfind("tokens.txt:1: the tenant \"semel\" is reserved", 0), 0U);
}

TEST(LiveTokens, AreReplacedAsAWhole) {
    live_tokens tokens;
    EXPECT_FALSE(tokens.find("a"));
    tokens.set(to_table({line_for("a")}).value());
    EXPECT_TRUE(tokens.find("a"));
    tokens.set(to_table({line_for("b")}).value());
    EXPECT_FALSE(tokens.find("a"));
    EXPECT_TRUE(tokens.find("b"));
}

TEST(LiveTokens, TheGatewayTakesThoseThatMayUseKeys) {
    const auto tokens = std::make_shared<live_tokens>();
    token_line reader = line_for("r");
    reader.gives.may = http::scope_set{http::scope::read};
    token_line operates = line_for("o");
    operates.gives.may = http::scope_set{http::scope::use, http::scope::operate};
    token_line admin = line_for("d");
    admin.gives.may = http::scope_set{http::scope::use, http::scope::admin};
    tokens->set(to_table({line_for("a"), reader, operates, admin}).value());

    const http::tenant_token source = tenants_of(tokens);

    EXPECT_EQ(source.tenant_of("a"), "acme");
    for (const char* other : {"r", "o", "d"}) {
        EXPECT_EQ(source.tenant_of(other), std::nullopt) << other;
        EXPECT_TRUE(source.is_own(other)) << other;
    }
    EXPECT_EQ(source.tenant_of("x"), std::nullopt);
    EXPECT_FALSE(source.is_own("x"));
}

} // namespace
} // namespace semel::config::token_file_test
