#include "redis_fixture.hpp"
#include "stores/processes.hpp"

namespace semel {
namespace {

using RedisProcesses = redis_test;

TEST_F(RedisProcesses, EveryKeyIsExecutedOnceAndEverybodyGetsTheSameBytes) {
    test::expect_one_effect_per_key(test::server_url("SEMEL_TEST_REDIS") +
                                    "?prefix=" + options_.prefix);
}

} // namespace
} // namespace semel
