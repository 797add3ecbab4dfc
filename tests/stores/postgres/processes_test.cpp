#include "postgres_fixture.hpp"
#include "stores/processes.hpp"

namespace semel {
namespace {

using PostgresProcesses = postgres_test;

TEST_F(PostgresProcesses, EveryKeyIsExecutedOnceAndEverybodyGetsTheSameBytes) {
    test::expect_one_effect_per_key(url());
}

} // namespace
} // namespace semel
