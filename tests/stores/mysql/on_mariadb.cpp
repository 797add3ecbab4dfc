// What is MariaDB's alone, beside the cases that it shares with MySQL.
#include "plans.hpp"

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

} // namespace
} // namespace semel
