#include "demo/services.hpp"

#include <chrono>
#include <thread>

#include "semel/databases/sqlite.hpp"
#include "semel/databases/sqlite/transaction.hpp"

namespace semel::demo {
namespace {

using namespace std::chrono_literals;

// Long enough that concurrent callers meet in the middle of it.
void think() {
    std::this_thread::sleep_for(20ms);
}

template <class Effect> std::int64_t act_stopping(const order_request& what, const Effect& effect) {
    what.at(moment::before_effect);
    const std::int64_t id = effect();
    what.at(moment::after_effect);
    return id;
}

template <class Effect>
std::int64_t check_then_act(world& in, const order_request& what, const Effect& effect) {
    if (const auto known = in.remembered(what.key)) return *known;
    think();
    const std::int64_t id = act_stopping(what, effect);
    in.remember(what.key, id);
    return id;
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
    return check_then_act(in, what, [&] { return in.add_order(what.key, what.amount); });
}

std::int64_t naive_payment(world& in, const order_request& what) {
    return check_then_act(in, what, [&] { return in.charge(what.key, what.amount); });
}

engine make_engine(const world& in) {
    auto records = open_sqlite_store({.path = in.folder / shop_file}).value();
    const operation_policy patient{.lease = 30s, .wait_max = 20s};
    const operation_policy hasty{.lease = 600ms, .wait_max = 20s, .grace = 100ms};
    return engine{
        std::move(records), patient, {.operations = {{"ORDER_PAY", hasty}}, .log = null_logger()}};
}

outcome<std::string> semel_order(engine& with, world& in, const order_request& what) {
    return with.execute<std::string>(request_for(what, "ORDER_CREATE"), [&] {
        think();
        return "order " + std::to_string(in.add_order(what.key, what.amount));
    });
}

outcome<std::string> semel_payment(engine& with, world& in, const order_request& what,
                                   std::string_view by) {
    return with.execute<std::string>(request_for(what, "ORDER_PAY"), [&](execution& run) {
        const auto charge = act_stopping(
            what, [&] { return in.charge(what.key, what.amount, run.child_key("payment")); });
        return "charge " + std::to_string(charge) + ", reported by " + std::string{by};
    });
}

outcome<std::string> transacted_order(engine& with, world& in, const order_request& what) {
    sqlite_transaction here{in.shop.handle()};
    return with.transact<std::string>(here, request_for(what, "ORDER_CREATE"), [&] {
        const auto order = act_stopping(what, [&] { return in.add_order(what.key, what.amount); });
        return "order " + std::to_string(order);
    });
}

} // namespace semel::demo
