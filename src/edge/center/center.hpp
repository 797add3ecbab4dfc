// The center: records for services that run the work themselves, in any language, over HTTP and
// JSON. docs/center.md and docs/openapi.json say what clients see.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "edge/api/center_counts.hpp"
#include "edge/server/handler.hpp"
#include "edge/server/security_event.hpp"
#include "semel/base/runtime.hpp"
#include "semel/core/metrics.hpp"
#include "semel/core/policy.hpp"
#include "semel/engine/request.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/tenant.hpp"
#include "semel/store.hpp"

namespace semel::edge {

struct center_options {
    // Who a bearer token is. Called on the request's path: must not block.
    std::function<std::optional<http::grant>(std::string_view token)> grant_of = {};
    std::map<std::string, operation_policy> operations = {};
    std::optional<operation_policy> defaults = operation_policy{}; // of others; none: refused
    // Those of a gateway's routes, whose clients can read nothing but stored responses.
    std::set<std::string> responses = {};
    semel::limits limits = {};
    http::problem_options problems = {};
    std::size_t body_bytes_max = std::size_t{8} << 20U;
    std::size_t batch_max = 256;
    duration wait_max = std::chrono::seconds{30}; // longer waits are cut to this
    std::size_t waiters_max = 10'000;             // above: not waited for, and counted
    // Told of every mismatch, on whatever thread found it. Short; must not call the center.
    std::function<void(const mismatch_seen&)> on_mismatch = {};
    security_watch watch = {}; // called for refused tokens and scopes; may be empty
    // How long a store that cannot answer is asked again before the client gets a 503.
    duration patience = std::chrono::seconds{5};
};

class center_core;

// Thread-safe. The store and the runtime outlive it. The destructor answers those who wait and
// stays until every command under way has been answered by the store.
class center {
public:
    center(store& records, runtime& timers, center_options options);
    ~center();

    // For servers. Both work as long as the center does. The doorkeeper asks for the token before
    // the body of a request is taken.
    [[nodiscard]] handler requests();
    [[nodiscard]] doorkeeper door();
    void serve(served_request request, reply answer);

    // Ends all waiting, also later: a request that waits gets what is known. For a drain.
    void stop_waiting();

    [[nodiscard]] center_counts counts() const;

private:
    std::shared_ptr<center_core> core_; // shared with commands under way
};

// The API's description, as served at /openapi.json.
[[nodiscard]] std::string_view openapi_document();

} // namespace semel::edge
