// What the work, or the connection, may leave a transaction in.
#include <chrono>
#include <thread>
#include <utility>

#include "stores/sql/deadlocks.hpp"
#include "stores/sql/doubt.hpp"
#include "stores/sql/private_server.hpp"
#include "support/failing_memory.hpp"

namespace semel {
namespace {

using MysqlDeadlock = SqlDeadlock;

// The server has rolled everything back, and knows no transaction any more.
TEST_F(MysqlDeadlock, WhatTheWorkDoesAfterItIsNotKept) {
    {
        const std::jthread survivor = start_survivor();
        const auto out = transact([&] {
            EXPECT_THROW(run_into_deadlock(), std::runtime_error);
            run(add_to(2));
            return pay("7");
        });
        EXPECT_EQ(why(out), errc::transaction_broken);
    }

    EXPECT_EQ(money(), "2") << "the survivor's";
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(mine_.sql("SELECT @@autocommit"), "1");
}

using MysqlDoubt = SqlDoubt;

TEST_F(MysqlDoubt, LeavesTheConnectionWithoutAutocommitIfItWas) {
    client_.sql("SET autocommit = 0");

    ASSERT_TRUE(pay_in_doubt().executed());

    EXPECT_EQ(client_.sql("SELECT @@autocommit"), "0");
}

using MysqlLeftovers = SqlTransaction;

TEST_F(MysqlLeftovers, AutocommitIsTheCallersAgain) {
    for (const char* setting : {"1", "0"}) {
        run(std::string{"SET autocommit = "} + setting);

        EXPECT_TRUE(transact([&] { return pay("7"); }, payment(setting)).executed());
        EXPECT_EQ(mine_.sql("SELECT @@autocommit"), setting);

        EXPECT_THROW(
            (void)transact([&]() -> std::string { throw std::runtime_error{"no"}; }, payment("x")),
            std::runtime_error);
        EXPECT_EQ(mine_.sql("SELECT @@autocommit"), setting);
        run("ROLLBACK");
    }
    run("SET autocommit = 1");
}

TEST_F(MysqlLeftovers, TransactionsDoNotChain) {
    run("SET completion_type = 'CHAIN'");

    EXPECT_TRUE(transact([&] { return pay("7"); }).executed());

    EXPECT_FALSE(in_transaction());
    EXPECT_TRUE(transact([&] { return pay("8"); }, payment("p2")).executed());
    run("SET completion_type = DEFAULT");
}

TEST_F(MysqlLeftovers, WorkThatHasEndedItsTransactionBeginsNoOther) {
    const auto out = transact([&] {
        run("CREATE TABLE " + prefix() + "other (number INT)");
        const auto inner = transact([&] { return pay("8"); }, payment("p2"));
        EXPECT_EQ(why(inner), errc::invalid_argument);
        return std::string{"7"};
    });
    run("DROP TABLE " + prefix() + "other");

    EXPECT_EQ(why(out), errc::transaction_broken);
    database_client other;
    auto port = port_on(other);
    EXPECT_TRUE(
        engine_.transact<std::string>(port, payment(), [] { return std::string{"9"}; }).executed())
        << "the lock is free";
}

// Undoing takes a while and goes on, but what would follow does not happen.
TEST_F(MysqlLeftovers, ARollbackThatIsKilledLeavesNoLock) {
    sql("INSERT INTO " + payment_table() + " VALUES (5)"); // an empty table is emptied in no time
    database_client slow;
    auto port = port_on(slow);
    const std::string kill = "KILL QUERY " + std::to_string(mysql_thread_id(slow.native()));
    std::jthread killer;
    const auto work = [&]() -> std::string {
        slow.sql("INSERT INTO " + payment_table() + " SELECT 5 FROM " +
                 testing_support::mysql_numbers(5));
        killer = std::jthread{[&](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                EXPECT_NO_THROW(sql(kill));
                std::this_thread::sleep_for(std::chrono::milliseconds{5});
            }
        }};
        throw std::runtime_error{"no"};
    };
    EXPECT_THROW((void)engine_.transact<std::string>(port, payment(), work), std::runtime_error);
    killer = {};

    EXPECT_TRUE(transact([] { return std::string{"9"}; }).executed()) << "the lock is free";
    EXPECT_EQ(payments(), "1");
}

// Whatever fails behind the work, nobody is to find its key and its rows locked, or half of it
// kept.
TEST_F(MysqlLeftovers, AreNotLeftOpenWhereMemoryRunsOut) {
    int nth = 1;
    for (bool reached = true; reached; ++nth) {
        database_client client;
        auto port = port_on(client);
        const auto key = "k" + std::to_string(nth);
        try {
            (void)engine_.transact<std::string>(port, payment(key), [&]() -> std::string {
                client.sql("INSERT INTO " + payment_table() + " VALUES (5)");
                testing_support::failing_allocation = nth;
                return "7";
            });
        } catch (const std::exception&) {
            // That there is no memory, as an exception or an outcome.
        }
        reached = std::exchange(testing_support::failing_allocation, 0) == 0;
        // Whatever it was left in must not be kept by whoever has it next.
        (void)mysql_query(client.native(), "COMMIT");

        EXPECT_EQ(payments(), recorded()) << nth;
        EXPECT_FALSE(transact([] { return std::string{"8"}; }, payment(key)).in_progress()) << nth;
        sql("DELETE FROM " + payment_table());
        sql("DELETE FROM " + record_table());
    }
    EXPECT_GT(nth, 3);
}

// A server that was restarted gives the same numbers to its connections again.
TEST(MysqlReconnected, IsNotTakenForTheOneThatWasLost) {
    testing_support::private_server server{database_kind};
    (void)migrate_mysql(options_at(server.port()), migrate_mode::run).value();
    engine with{semel::open_store("memory:").value()};
    database_client client = client_at(server.port());
    database_transaction port{client.native()};
    const auto number = mysql_thread_id(client.native());
    const request what{.tenant = "acme", .operation = "PAY", .key = "p1"};
    const auto crash = [&]() -> std::string {
        server.crash();
        throw std::runtime_error{"no"};
    };
    EXPECT_THROW((void)with.transact<std::string>(port, what, crash), std::runtime_error);
    server.start();
    const my_bool on = 1;
    ::mysql_options(client.native(), MYSQL_OPT_RECONNECT, &on);
    client.native()->server_status &= ~static_cast<unsigned>(SERVER_STATUS_IN_TRANS);
    for (int i = 0; i < 50; ++i) {
        ASSERT_EQ(mariadb_reconnect(client.native()), 0);
        if (mysql_thread_id(client.native()) >= number) break;
    }
    ASSERT_EQ(mysql_thread_id(client.native()), number);

    const auto out = with.transact<std::string>(port, what, [] { return std::string{"7"}; });

    EXPECT_TRUE(out.executed()) << describe(*out.why());
}

} // namespace
} // namespace semel
