// What each part has counted, as metrics. Pure.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "edge/admin/metrics_text.hpp"
#include "edge/center/center.hpp"
#include "edge/gateway/options.hpp"
#include "edge/server/security_event.hpp"
#include "semel/core/metrics.hpp"
#include "semel/engine.hpp"
#include "semel/operations.hpp"
#include "semel/outbox/relay.hpp"
#include "semel/store/decorators.hpp"

namespace semel::edge {

void write(metrics_text& to, const engine_counters& from);
void write(metrics_text& to, const store_snapshot& from);
void write(metrics_text& to, const store_counters& from);
void write(metrics_text& to, const cache_counters& from);
void write(metrics_text& to, const encryption_counters& from);
void write(metrics_text& to, const gateway_counts& from);
void write(metrics_text& to, const center_counts& from);
void write(metrics_text& to, const reconcile_counts& from);
// One for each relay, told apart by its number in the configuration; none: nothing is written.
void write(metrics_text& to, const std::vector<outbox::relay_metrics>& from);
// Of all instances that this process has sent or logged.
struct alert_counts {
    std::uint64_t raised = 0;      // began, or were over
    std::uint64_t sent = 0;        // taken by the webhook
    std::uint64_t send_failed = 0; // given up
};
void write(metrics_text& to, const alert_counts& from);
// How often the file of tokens was read (the start counts), and how many tokens are valid.
struct token_counts {
    std::uint64_t read = 0;
    std::uint64_t not_read = 0; // those before stayed in effect
    std::uint64_t in_effect = 0;
};
void write(metrics_text& to, const token_counts& from);
// Sign-ins and refusals at the console and the center.
struct security_counts {
    std::array<std::uint64_t, security_event_kinds> seen = {}; // by security_event::kind
    std::uint64_t unlogged = 0;                                // of them: there were too many lines
};
void write(metrics_text& to, const security_counts& from);
// `listener` tells servers apart: "gateway", "center", "admin".
struct served_counts {
    std::string_view listener;
    server_counts counts;
};
void write(metrics_text& to, const std::vector<served_counts>& from);

} // namespace semel::edge
