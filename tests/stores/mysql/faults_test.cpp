// Connections that the server ends, and servers that cannot keep the promise.
#include <sstream>
#include <thread>

#include "database.hpp"
#include "stores/sql/private_server.hpp"

namespace semel {
namespace {

class MysqlFaults : public testing::Test {
protected:
    MysqlFaults() { migrate(database_url(server_.port()), migrate_mode::run).value(); }

    std::unique_ptr<store> open() { return open_database(options_at(server_.port())).value(); }

    testing_support::private_server server_{database_kind};
};

TEST_F(MysqlFaults, AConnectionThatWasClosedWhileIdleIsMadeAnewUnnoticed) {
    const auto store = open();
    // So many that the next is taken for new: by a statement that the new session must have, too.
    for (int i = 0; i < 80; ++i) {
        (void)said<answers::started>(store->call(id_of(std::to_string(i)), begin_by(anna)));
    }
    testing_support::mysql_client client{server_.port()};
    std::istringstream all{client.sql("SELECT id FROM information_schema.processlist WHERE "
                                      "user = 'semel' AND id <> CONNECTION_ID()")};
    for (std::string id; all >> id;) client.sql("KILL " + id);
    std::this_thread::sleep_for(std::chrono::milliseconds{100});

    (void)said<answers::started>(store->call(id_of("b"), begin_by(anna)));
}

TEST_F(MysqlFaults, AServerThatTakesNoWritesIsRefused) {
    testing_support::mysql_client{server_.port()}.sql("SET GLOBAL read_only = 1");

    const auto opened = semel::open_store(database_url(server_.port()));

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::read_only) << describe(opened.error());
    EXPECT_NE(opened.error().detail.find("name the primary"), std::string::npos);
}

TEST_F(MysqlFaults, AServerThatTakesNoWritesMayBeLookedAt) {
    (void)said<answers::started>(open()->call(id_of("k"), begin_by(anna)));
    testing_support::mysql_client{server_.port(), "root", ""}.sql("SET GLOBAL read_only = 1");

    const auto opened =
        semel::open_store(database_url(server_.port()), {.mode = open_mode::read_only});

    ASSERT_TRUE(opened) << describe(opened.error());
    EXPECT_TRUE(said<answers::found>((*opened)->call(id_of("k"), commands::lookup{})).current);
}

TEST_F(MysqlFaults, AServerThatWantsTlsSaysSo) {
    testing_support::mysql_client{server_.port()}.sql("SET GLOBAL require_secure_transport = 1");

    const auto opened = semel::open_store(database_url(server_.port()));

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::invalid_argument) << describe(opened.error());
    EXPECT_NE(opened.error().detail.find("add tls=verify"), std::string::npos);
}

TEST_F(MysqlFaults, AServerThatDoesNotFlushIsRefused) {
    testing_support::mysql_client{server_.port()}.sql(
        "SET GLOBAL innodb_flush_log_at_trx_commit = 0");

    const auto opened = semel::open_store(database_url(server_.port()));

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::unsupported) << describe(opened.error());
}

} // namespace
} // namespace semel
