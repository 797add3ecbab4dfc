// What the exchanges of one gateway share.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "edge/gateway/equal_requests.hpp"
#include "edge/gateway/options.hpp"
#include "edge/gateway/upstream_pool.hpp"
#include "semel/core/metrics.hpp"
#include "semel/engine.hpp"
#include "semel/http/route.hpp"

namespace semel::edge {

// Constant after the start, except counters; the pools belong to their workers.
struct gateway_state {
    gateway_options options;
    http::gate gate;
    semel::engine& engine;
    std::shared_ptr<logger> log;
    std::optional<boost::asio::ssl::context> tls = {};
    std::unordered_map<worker*, std::shared_ptr<upstream_pool>> pools = {}; // shared with workers
    equal_requests_table equals = {}; // of routes that go on without a store
    crew* workers = nullptr;          // outlives the exchanges that run on it

    counter passed = {}, guarded = {}, refused = {}, bypassed = {}, unsent = {}, unanswered = {},
            probes = {}, resolved = {}, connects = {}, under_way = {};

    [[nodiscard]] upstream_pool& pool(worker& of) { return *pools.find(&of)->second; }
};

} // namespace semel::edge
