// A process that dies in the middle of a transaction, and the retry that follows.
#include <fmt/format.h>

#include "demo_scenes.hpp"

namespace semel::app::demo {

scene_report crash_in_a_transaction(const stage& on) {
    scene_report report{.name = "killed inside the transaction",
                        .key = "crash-transaction",
                        .promise = "transact: exactly once, whatever crashes"};
    on.tell.scene("The process is killed after it has written the order, inside a transaction");
    crash(on, {.service = "naive-order", .stop_at = "after", .key = "naive-transaction"});
    naive_order(on.in, {.key = "naive-transaction"});
    report.naive_effects = on.in.shop.orders("naive-transaction");
    on.tell.naive("SIGKILL, then a retry: " + counted(report.naive_effects, "order"));

    crash(on, {.service = "transaction", .stop_at = "after", .key = report.key});
    const std::size_t left_behind = on.in.shop.orders(report.key);
    const auto retried = transacted_order(on.with, on.in, {.key = report.key});
    const auto repeat = transacted_order(on.with, on.in, {.key = report.key});
    report.semel_effects = on.in.shop.orders(report.key);
    on.tell.semel(fmt::format("SIGKILL rolled record and order back together: {} left behind",
                              counted(left_behind, "order")));
    on.tell.semel(fmt::format("the retry is {} at once, without waiting for a lease; a repeat is "
                              "{}: {}",
                              name(retried.kind()), name(repeat.kind()),
                              counted(report.semel_effects, "order")));
    on.tell.promise(report.promise);
    if (left_behind != 0 || !retried.executed() || !repeat.replayed()) {
        report.problems.push_back("order and record should have come together");
    }
    return report;
}

} // namespace semel::app::demo
