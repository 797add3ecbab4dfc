// What a store and a front do before they open: look at the options, and at the server.
#pragma once

#include <cstdint>

#include "databases/redis/client/link.hpp"
#include "semel/base/result.hpp"
#include "semel/databases/redis.hpp"

namespace semel::redis {

// errc::invalid_argument
[[nodiscard]] result<void> check_options(const redis_store_options& options);

[[nodiscard]] result<link_options> link_options_of(const redis_store_options& options);

enum class server_use : std::uint8_t {
    records, // which must not be evicted
    front,
};

// Is it a server that semel can work on?
[[nodiscard]] result<void> look_at_server(link& on, server_use use,
                                          const redis_store_options& options);

} // namespace semel::redis
