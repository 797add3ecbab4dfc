// Any store by its URL.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "semel/policy.hpp"
#include "semel/result.hpp"
#include "semel/store.hpp"

namespace semel {

// What does not belong into a URL, or is the same for every store. The URL's own parameters go
// before these.
struct open_options {
    std::string table_prefix = "semel_";        // of stores that have tables
    std::size_t queue_max = limits{}.queue_max; // waiting begins and look-ups of a durable store
};

// Builds the store a URL names:
//
//   memory:                      records in this process's memory
//     ?records_max=N             bound on records (suffixes k, m, g: powers of 1,000)
//     &bytes_max=N               bound on bytes (suffixes k, m, g: powers of 1,024)
//   sqlite:path                  records in an SQLite file; sqlite:///absolute/path as well
//     ?prefix=NAME               table prefix
//     &lock_wait_ms=N            how long to wait for other processes
//     &cache_bytes=N             page cache (suffixes as above)
//
// In a path and in values %XX stands for a byte; a `?` in a file name is written %3F.
//
// Errors: unknown_store (no such driver; the detail lists those there are), invalid_argument (the
// URL cannot be read, or has a parameter the driver does not know), and those of the driver.
[[nodiscard]] result<std::unique_ptr<store>> open(std::string_view url,
                                                  const open_options& options = {});

} // namespace semel
