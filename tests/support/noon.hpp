#pragma once

#include "semel/base/time.hpp"

namespace semel::test {

// Where the clock of a test stands until the test moves it.
inline constexpr time_point noon{std::chrono::seconds{1'800'000'000}};

} // namespace semel::test
