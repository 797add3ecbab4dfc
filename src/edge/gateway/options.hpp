// How the gateway listens, what it protects, and where it sends. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "edge/server/options.hpp"
#include "net/address.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/policy.hpp"
#include "semel/http/message.hpp"
#include "semel/http/route.hpp"

namespace semel::edge {

struct upstream_options {
    net::base_url url = {};
    std::string ca_file = {}; // for https; empty: those the system trusts
    // Connections of all workers together. Further requests wait for a connection, up to
    // waiting_max and connect_time.
    std::size_t connections_max = 512;
    std::size_t waiting_max = 4'096;
    duration connect_time = std::chrono::seconds{5};
    duration answer_time = std::chrono::seconds{60};   // until the head of the answer
    duration progress_time = std::chrono::seconds{30}; // between two parts of anything
    // Below the five seconds after which many servers close idle connections themselves: a request
    // that meets such a closing has an unknown outcome. The upstream's own Keep-Alive goes first.
    duration idle_time = std::chrono::seconds{4};
    http::head_limits heads = {.head_bytes_max = std::size_t{64} << 10U};
    // Of an answer to a protected request, which is held until its record is durable. A larger one
    // is executed and remembered, but its body is not kept.
    std::size_t answer_bytes_max = std::size_t{16} << 20U;
    // The Host the upstream sees: the client's, or the one in its URL.
    enum class host_seen : std::uint8_t { clients, own } host = host_seen::clients;
    // Headers of untrusted clients whose names hold a '_': some services read them as '-'. Those in
    // `heads.vital` go on in any case.
    enum class names_with_underscores : std::uint8_t {
        drop,
        pass
    } underscores = names_with_underscores::drop;
};

struct gateway_options {
    // `problems` are taken from `gate`; `heads.vital` gets the gate's names of keys, tenants and
    // principals in addition.
    server_options server = {};
    upstream_options upstream = {};
    http::gate_options gate = {};
    // By operation: the path that is asked what became of a request, as
    // `GET <path>?key=…&operation=…&tenant=…`. For operations with on_lease_expiry = probe.
    std::map<std::string, std::string> probes = {};
    duration drain_time = std::chrono::seconds{30};
};

// invalid_argument names the option.
[[nodiscard]] result<void> check(const gateway_options& options);

// For engine_options: the policies of the routes.
[[nodiscard]] result<std::map<std::string, operation_policy>>
operations_of(const gateway_options& options);

// Since the start, except those marked.
struct gateway_counts {
    server_counts server = {};
    std::uint64_t passed = 0;     // unprotected by their nature
    std::uint64_t guarded = 0;    // protected
    std::uint64_t refused = 0;    // before anything was asked of a store
    std::uint64_t bypassed = 0;   // executed without protection, since the store was away
    std::uint64_t unsent = 0;     // protected; no byte reached the upstream
    std::uint64_t unanswered = 0; // protected; outcome unknown
    std::uint64_t probes = 0;     // questions about requests in doubt
    std::uint64_t resolved = 0;   // … that were answered
    std::uint64_t connects = 0;   // to the upstream
    std::uint64_t under_way = 0;  // now: protected
};

} // namespace semel::edge
