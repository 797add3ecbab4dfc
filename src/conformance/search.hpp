// A store's searches beside the specification.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "semel/conformance.hpp"

namespace semel::conformance {

// Fills a fresh store with random records, then asks for each kind of query in pages of several
// sizes. The first difference, if there is one.
[[nodiscard]] std::optional<std::string> search_difference(const subject& what, std::uint64_t seed);

} // namespace semel::conformance
