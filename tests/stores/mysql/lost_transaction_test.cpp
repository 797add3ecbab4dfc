// What the work, or the connection, may leave a transaction in.
#include "stores/sql/doubt.hpp"

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

} // namespace
} // namespace semel
