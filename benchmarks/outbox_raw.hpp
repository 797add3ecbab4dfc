// The floor of any outbox relay: the joined ack and claim in a plain loop, without anything else.
#pragma once

#include <cstddef>
#include <string>

namespace semel::bench {

struct raw_loop {
    std::string prefix;
    int shards = 16;
    std::size_t batch = 500;
    std::size_t connections = 1;
};

// Until the table is empty; how many rows there were.
[[nodiscard]] std::size_t drain_raw_postgres(const std::string& url, const raw_loop& how);
[[nodiscard]] std::size_t drain_raw_mysql(unsigned port, const raw_loop& how);

} // namespace semel::bench
