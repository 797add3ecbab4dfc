// What the sessions of one server share.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <atomic>
#include <memory>
#include <optional>

#include "edge/server/address_book.hpp"
#include "edge/server/exchange.hpp"
#include "edge/server/options.hpp"
#include "semel/core/metrics.hpp"

namespace semel::edge {

// Constant after the start, except counters and `draining`.
struct server_state {
    server_options options;
    service* serves = nullptr; // outlives the sessions
    std::optional<boost::asio::ssl::context> tls = {};

    std::atomic<bool> draining = false;
    std::atomic<std::uint64_t> open = 0; // sessions
    address_book addresses;
    counter accepted = {}, refused = {}, requests = {}, malformed = {}, timed_out = {},
            overloaded = {};

    [[nodiscard]] server_counts counts() const;
};

} // namespace semel::edge
