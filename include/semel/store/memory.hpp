// Records in this process's memory: `memory:`. They live as long as the store does.
#pragma once

#include <cstddef>
#include <memory>

#include "semel/store.hpp"

namespace semel {

struct memory_store_options {
    std::size_t records_max = 16'000'000;
    std::size_t bytes_max = std::size_t{8}
                            << 30;          // keys, results, attributes and their book-keeping
    std::size_t audit_entries_max = 10'000; // the oldest go first
};

// The record machine behind striped locks. Bounded: a begin over a bound is refused
// (errc::no_space) if nothing is left to purge. A live record is never evicted, because its work
// would run again. Other commands remove expired records, without scans.
[[nodiscard]] std::unique_ptr<store> open_memory_store(const memory_store_options& options = {});

} // namespace semel
