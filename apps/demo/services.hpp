// The same service twice: as it is often written, and with semel.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "demo/world.hpp"
#include "semel/engine.hpp"

namespace semel::demo {

// Where a service can be stopped on its way.
enum class moment { before_effect, after_effect };

struct order_request {
    std::string key;
    int amount = 49;
    std::function<void(moment)> at = [](moment) {};
};

// Check, then act: look the key up; if it is new, do the work; then remember the key.
std::int64_t naive_order(world& in, const order_request& what);
std::int64_t naive_payment(world& in, const order_request& what);

// On the shop's own file. Payments have a short lease, so that the take-over comes soon.
[[nodiscard]] engine make_engine(const world& in);

// The work puts an order into the shop's table, under a lease.
outcome<std::string> semel_order(engine& with, world& in, const order_request& what);
// The work charges a provider that deduplicates on child_key(), under a lease. `by` is part of the
// answer, so that one can see whose answer it is.
outcome<std::string> semel_payment(engine& with, world& in, const order_request& what,
                                   std::string_view by);
// The work puts an order into the shop's table, in one transaction with the record.
outcome<std::string> transacted_order(engine& with, world& in, const order_request& what);

} // namespace semel::demo
