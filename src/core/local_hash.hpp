// Hashes for tables in memory and lanes.
#pragma once

#include <cstdint>

#include "semel/core/record.hpp"

namespace semel {

// As hash_of(), under a seed that is drawn once per process. Keys come from strangers, who can make
// thousands that are alike under the hash that never changes, and so make one chain of a table. Not
// for names that others see: there it must be hash_of().
[[nodiscard]] std::uint64_t local_hash_of(const record_id& id);

} // namespace semel
