#include "demo_services.hpp"

#include <chrono>
#include <thread>

#include "semel/stores/sqlite.hpp"
#include "semel/transaction/sqlite.hpp"

namespace semel::app::demo {

namespace {

using namespace std::chrono_literals;

// Long enough that concurrent callers meet in the middle of it.
void think() {
    std::this_thread::sleep_for(20ms);
}

request request_for(const order_request& what, std::string operation) {
    const std::string body = R"({"item": "book", "amount": )" + std::to_string(what.amount) + "}";
    return {.tenant = "acme",
            .operation = std::move(operation),
            .key = what.key,
            .content = fingerprint::json(body)};
}

} // namespace

std::int64_t naive_order(world& in, const order_request& what) {
    if (const auto known = in.shop.remembered(what.key)) return *known;
    think();
    what.at(moment::before_effect);
    const std::int64_t order = in.shop.add_order(what.key, what.amount);
    what.at(moment::after_effect);
    in.shop.remember(what.key, order);
    return order;
}

std::int64_t naive_payment(world& in, const order_request& what) {
    if (const auto known = in.shop.remembered(what.key)) return *known;
    what.at(moment::before_effect);
    const std::int64_t charge = in.provider.charge({.order = what.key, .amount = what.amount});
    what.at(moment::after_effect);
    in.shop.remember(what.key, charge);
    return charge;
}

engine make_engine(const world& in) {
    auto records = open_sqlite_store({.path = in.folder / "shop.db"}).value();
    const operation_policy patient{.lease = 30s, .wait_max = 20s};
    const operation_policy hasty{.lease = 600ms, .wait_max = 20s, .grace = 100ms};
    return engine{
        std::move(records), patient, {.operations = {{"ORDER_PAY", hasty}}, .log = null_logger()}};
}

outcome<std::string> semel_order(engine& with, world& in, const order_request& what) {
    return with.execute<std::string>(request_for(what, "ORDER_CREATE"), [&] {
        think();
        return "order " + std::to_string(in.shop.add_order(what.key, what.amount));
    });
}

outcome<std::string> semel_payment(engine& with, world& in, const order_request& what,
                                   std::string_view by) {
    return with.execute<std::string>(request_for(what, "ORDER_PAY"), [&](execution& run) {
        what.at(moment::before_effect);
        const std::int64_t charge = in.provider.charge(
            {.order = what.key, .key = run.child_key("payment"), .amount = what.amount});
        what.at(moment::after_effect);
        return "charge " + std::to_string(charge) + ", reported by " + std::string{by};
    });
}

outcome<std::string> transacted_order(engine& with, world& in, const order_request& what) {
    sqlite_transaction here{in.shop.data().handle()};
    return with.transact<std::string>(here, request_for(what, "ORDER_CREATE"), [&] {
        what.at(moment::before_effect);
        const std::int64_t order = in.shop.add_order(what.key, what.amount);
        what.at(moment::after_effect);
        return "order " + std::to_string(order);
    });
}

} // namespace semel::app::demo
