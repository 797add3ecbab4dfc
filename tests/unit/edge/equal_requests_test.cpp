#include "edge/gateway/equal_requests.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "support/failing_memory.hpp"

namespace semel::edge {
namespace {

using testing_support::failing_allocation;

// A table that is left locked hangs here.
TEST(EqualRequestsTable, MemoryThatRunsOutLeavesTheTableUsable) {
    const equal_requests_table::what of{.id = {.tenant = "t", .operation = "o", .key = "k"},
                                        .content = std::nullopt};
    const auto buffered = std::make_shared<byte_budget>(1'000);

    int failures = 0;
    for (bool failed = true; failed; failures += failed ? 1 : 0) {
        equal_requests_table table;
        failing_allocation = failures + 1;
        try {
            (void)table.find(of, buffered);
        } catch (const std::bad_alloc&) { // as it should be; the table is asked again below
        }
        failed = std::exchange(failing_allocation, 0) == 0;

        const auto first = table.find(of, buffered);
        EXPECT_NE(first, nullptr);
        EXPECT_EQ(table.find(of, buffered), first);
    }

    EXPECT_GE(failures, 3); // the requests, the count of their owners, the table's entry
}

} // namespace
} // namespace semel::edge
