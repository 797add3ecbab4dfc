#include "mysql_fixture.hpp"
#include "stores/processes.hpp"

namespace semel {
namespace {

using MysqlProcesses = mysql_test;

TEST_F(MysqlProcesses, R_29_EveryKeyIsExecutedOnceAndEverybodyGetsTheSameBytes) {
    test::expect_one_effect_per_key(url() + "&statement_timeout_ms=30000"); // it may be busy
}

} // namespace
} // namespace semel
