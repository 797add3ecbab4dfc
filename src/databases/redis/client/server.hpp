// What a server says about itself, and whether records may be entrusted to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "semel/base/result.hpp"
#include "semel/store.hpp"

namespace semel::redis {

struct server_facts {
    std::string version = {}; // "7.0.15"
    std::string role = {};    // "master"
    bool cluster = false;
    std::uint64_t memory_max = 0; // bytes; 0: no limit
    std::string memory_policy = {};
};

// From the reply to INFO.
[[nodiscard]] server_facts facts_in(std::string_view info);

// Too old, a cluster, a replica that shall be written: no store can be opened there.
[[nodiscard]] result<void> check_server(const server_facts& facts, open_mode mode);

// What is wrong if records could be dropped to make room.
[[nodiscard]] std::optional<failure> eviction_danger(const server_facts& facts);

} // namespace semel::redis
