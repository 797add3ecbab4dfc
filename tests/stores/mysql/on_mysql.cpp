// What is MySQL's alone, beside the cases that it shares with MariaDB.
#include <gtest/gtest.h>

#include <thread>

#include "databases/mysql/store/session.hpp"
#include "support/mysql_server.hpp"

namespace semel {

const testing_support::mysql_kind testing_support::tested_mysql = mysql_kind::mysql;

namespace mysql {
namespace {

using std::chrono::seconds;

// Under TLS what the server says before it closes the connection is read as the answer to the next
// statement. It was not executed.
TEST(MysqlIdle, AConnectionThatWasIdleForTooLongLeavesNoDoubt) {
    const auto to = read_target({.port = static_cast<std::uint16_t>(testing_support::mysql_port()),
                                 .user = "semel",
                                 .password = "semel",
                                 .database = "semel",
                                 .tls = mysql_tls::unverified})
                        .value();
    const auto on = connect(to).value();
    const auto soon = [] { return local_clock::now() + seconds{10}; };
    on->query("SET SESSION wait_timeout=1", soon()).value();
    std::this_thread::sleep_for(std::chrono::milliseconds{2'500});

    const auto got = on->run({.text = "DO 1", .what = script::writes::somewhere}, soon());

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::unavailable) << describe(got.error());
    EXPECT_EQ(got.error().possible, effect::none) << describe(got.error());
    EXPECT_TRUE(on->lost());
}

} // namespace
} // namespace mysql
} // namespace semel
