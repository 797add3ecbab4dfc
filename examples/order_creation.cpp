// An order is created once, however often it is asked for, and though this program is run again.
#include <iostream>

#include <semel/engine.hpp>
#include <semel/ids.hpp>
#include <semel/open.hpp>

int main() {
    auto engine = semel::engine{semel::open_store("sqlite:orders.db").value()};
    const auto create_order = [&](const std::string& key, const std::string& body) {
        const semel::request request{.tenant = "acme",
                                     .operation = "ORDER_CREATE",
                                     .key = key,
                                     .content = semel::fingerprint::json(body)};
        return engine.execute<std::string>(request, [] { // the effect: a new order
            return semel::typed_id<"order">::generate().to_string();
        });
    };

    const auto first = create_order("cart-17", R"({"item": "book", "amount": 49})");
    const auto again = create_order("cart-17", R"({"amount": 49.0, "item": "book"})");
    const auto other = create_order("cart-17", R"({"item": "book", "amount": 99})");
    std::cout << name(first.kind()) << ' ' << first.value() << '\n'
              << name(again.kind()) << ' ' << again.value() << '\n'
              << name(other.kind()) << '\n';
    const bool refused = other.kind() == semel::outcome_kind::mismatch;
    return again.value() == first.value() && refused ? 0 : 1;
}
