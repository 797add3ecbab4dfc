// Short forms for the hand-written tests of the suite.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "semel/store.hpp"

namespace semel::conformance {

// When the hand-written tests begin. In the future, so that a store which looks at its own clock
// instead of the time it is given is noticed.
inline constexpr time_point day_one{std::chrono::seconds{2'000'000'000}};

// Runs work(0) … work(threads - 1) at the same time, released together.
void together(std::size_t threads, const std::function<void(std::size_t)>& work);

[[nodiscard]] record_id id_of(std::string key);

// A begin with a lease of 30 s and a grace of 250 ms; `owner` must not be 0.
[[nodiscard]] commands::begin begin_of(std::uint64_t owner);

[[nodiscard]] stored_result result_of(std::string body);

// Sends the command and throws failure_error if the store fails.
[[nodiscard]] answer ask(store& whom, const record_id& id, const command& what, time_point now);
// How many records a sweep by the test's time has removed.
[[nodiscard]] std::size_t swept(store& whom, time_point now);

// The claim of a begin that must be answered with `started`, else an empty one and a failed test.
claim must_start(store& whom, const record_id& id, std::uint64_t owner, time_point now);

template <class Kind> [[nodiscard]] bool is(const answer& what) {
    return std::holds_alternative<Kind>(what);
}

} // namespace semel::conformance
