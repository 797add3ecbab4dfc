// The tests of the suite. Each works on backings of its own.
#pragma once

#include <memory>
#include <span>

#include "semel/conformance.hpp"

namespace semel::conformance {

struct named_test {
    const char* name;
    void (*run)(const subject&, const run_options&);
};

[[nodiscard]] std::span<const named_test> model_tests();
[[nodiscard]] std::span<const named_test> race_tests();
[[nodiscard]] std::span<const named_test> instance_tests();
[[nodiscard]] std::span<const named_test> port_tests();
[[nodiscard]] std::span<const named_test> operator_tests();
[[nodiscard]] std::span<const named_test> search_tests();

// A fresh backing with one store on it; the store goes first.
struct opened {
    std::unique_ptr<backing> place;
    std::unique_ptr<store> it;

    store* operator->() const { return it.get(); }
};

// Throws failure_error if it cannot be opened: the test then fails with the reason.
[[nodiscard]] opened open_fresh(const subject& what);

} // namespace semel::conformance
