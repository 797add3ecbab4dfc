// A server takes tokens from its file as soon as the file has changed.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "token_source.hpp"

namespace semel::app {
namespace {

class TokenSource : public testing::Test {
protected:
    TokenSource() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        file_ = folder_ + "/tokens.txt";
    }
    ~TokenSource() override { std::filesystem::remove_all(folder_); }

    std::string add(const std::string& tenant) const {
        const std::string token = config::new_token();
        const config::token_line line{
            .hash = fingerprint::raw(token),
            .gives = {.tenant = tenant, .may = http::scope_set{http::scope::use}},
            .created = "2026-01-31T12:00:00Z"};
        EXPECT_TRUE(config::append_token(file_, line));
        return token;
    }

    std::string folder_, file_;
    std::ostringstream lines_;
    const std::shared_ptr<logger> log_ = open_spdlog_logger({.to = &lines_});
    const std::shared_ptr<config::live_tokens> live_ = std::make_shared<config::live_tokens>();
};

TEST_F(TokenSource, ANewTokenIsTakenAndARevokedOneForgotten) {
    const std::string first = add("a");
    token_source from{file_, log_, live_};
    from.read();
    from.look();
    const std::string second = add("b");

    from.look();
    EXPECT_FALSE(live_->find(second)) << "an editor may be writing the file";
    from.look();
    EXPECT_TRUE(live_->find(second));
    ASSERT_TRUE(config::revoke_token(file_, fingerprint::raw(first).hex().substr(0, 12)));
    from.look();
    from.look();

    EXPECT_FALSE(live_->find(first));
    EXPECT_EQ(from.counts().read, 3U);
    from.look();
    EXPECT_EQ(from.counts().read, 3U) << "nothing has changed";
}

TEST_F(TokenSource, AFileThatCannotBeReadIsTriedOncePerChange) {
    const std::string token = add("a");
    token_source from{file_, log_, live_};
    from.read();
    std::filesystem::rename(file_, file_ + ".away");

    for (int i = 0; i < 5; ++i) from.look();
    EXPECT_TRUE(from.is_old());
    EXPECT_EQ(from.counts().not_read, 1U);
    EXPECT_TRUE(live_->find(token));

    std::filesystem::rename(file_ + ".away", file_);
    ::chmod(file_.c_str(), 0666);
    for (int i = 0; i < 5; ++i) from.look();
    EXPECT_EQ(from.counts().not_read, 2U);
    ::chmod(file_.c_str(), 0600);
    for (int i = 0; i < 5; ++i) from.look();
    EXPECT_FALSE(from.is_old()) << "who may write to it counts, too";
}

// No descriptor was left: the file has not changed since, and must be read all the same.
TEST_F(TokenSource, AFailureOfTheMachineIsTriedAgain) {
    const std::string token = add("a");
    token_source from{file_, log_, live_};
    from.read();
    ASSERT_TRUE(config::revoke_token(file_, fingerprint::raw(token).hex().substr(0, 12)));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{.rlim_cur = 3, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i < 3; ++i) from.look();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    ASSERT_TRUE(from.is_old());

    for (int i = 0; i <= looks_between_tries; ++i) from.look();

    EXPECT_FALSE(from.is_old());
    EXPECT_FALSE(live_->find(token));
}

} // namespace
} // namespace semel::app
