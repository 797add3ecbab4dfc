// The admin pages: is the process alive, is it ready, what has it counted. For a listener that
// clients cannot reach.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "edge/server/handler.hpp"
#include "semel/base/runtime.hpp"
#include "semel/http/problem.hpp"
#include "semel/store.hpp"

namespace semel::edge {

struct admin_options {
    // The metrics page. Called for each request: must not block.
    std::function<std::string()> metrics = {};
    // Whether this bearer token may see the metrics. Called as above. Empty: no token is needed.
    std::function<bool(std::string_view token)> may_see_metrics = {};
    // Lines for /ready that an operator should read although the process is ready. Called as above.
    std::function<std::string()> notes = {};
    // Serves all other paths. Empty: they are not found.
    handler others = {};
    // How long the store may take to be called ready.
    duration ready_max = std::chrono::seconds{1};
    http::problem_options problems = {};
};

// GET /health   200 as long as the process answers at all
// GET /ready    200 if the store answers in time, else 503; 503 while it drains
// GET /metrics  the text format of Prometheus
//
// Thread-safe. The store and the runtime outlive it and what it has handed out.
class admin {
public:
    admin(store& records, runtime& timers, admin_options options);

    [[nodiscard]] handler requests();
    // From now on /ready answers 503.
    void drain() { parts_->draining.store(true, std::memory_order_relaxed); }

    // Shared with requests under way.
    struct parts {
        store& records;
        semel::runtime& timers;
        const admin_options options;
        std::atomic<bool> draining = false;
    };

private:
    std::shared_ptr<parts> parts_;
};

} // namespace semel::edge
