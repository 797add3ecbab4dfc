// What is MariaDB's alone, beside the cases that it shares with MySQL.
#include "plans.hpp"
#include "stores/sql/payments.hpp"

namespace semel {

const testing_support::mysql_kind testing_support::tested_mysql = mysql_kind::mariadb;

namespace {

class MariadbPlans : public mysql_plans {};

// The floor must be read behind the row: what does not depend on it would be read before, and a
// removal in between be missed. It is a look-up by key all the same.
TEST_F(MariadbPlans, ALoneBeginReadsTheFenceFloorBehindItsRow) {
    std::string text = texts_.prepare(open_mode::create);
    const std::size_t from = text.find('\'') + 1;
    text = text.substr(from, text.find("';PREPARE") - from);
    std::erase(text, '\\');
    std::replace(text.begin(), text.end(), '?', '1');

    const std::string got = plan(text);

    EXPECT_EQ(access(got, "m"), "eq_ref") << got;
}

class MariadbTransaction : public SqlTransaction {
protected:
    int executions() {
        return std::stoi(mine_.sql("SELECT variable_value FROM information_schema.session_status "
                                   "WHERE variable_name = 'Com_stmt_execute'"));
    }
};

// Two round trips beside the work's own, by statements that the session keeps from the second
// transaction on.
TEST_F(MariadbTransaction, ATransactionIsTwoStatements) {
    for (const char* key : {"p1", "p2", "p3"}) {
        ASSERT_TRUE(transact([&] { return pay("7"); }, payment(key)).executed());
    }
    const int before = executions();

    ASSERT_TRUE(transact([&] { return pay("7"); }, payment("p4")).executed());

    EXPECT_EQ(executions(), before + 2);
}

} // namespace
} // namespace semel
