// Searching the memory store.
#pragma once

#include <span>

#include "semel/core/search.hpp"
#include "store/memory/stripe.hpp"

namespace semel {

// The high bits of a record's hash choose its stripe, so the stripes are in the order of hashes.
[[nodiscard]] result<record_page> search_stripes(std::span<stripe> stripes,
                                                 const record_query& query, time_point now);

} // namespace semel
