// Where alerts go: into the log, and to a webhook if there is one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "config/config.hpp"
#include "edge/admin/metrics.hpp"
#include "edge/gateway/caller.hpp"
#include "outbox/sinks/webhook_signature.hpp"
#include "semel/log.hpp"
#include "semel/operations.hpp"

namespace semel::app {

struct alert_target {
    std::string webhook = {};             // empty: none
    outbox::webhook_secrets secrets = {}; // signed as requests of relays are
    std::string console = {};             // its URL, for links; empty: none
};

[[nodiscard]] alert_target alert_target_of(const config::config& from);

// Thread-safe.
class alert_sender {
public:
    // Throws as opened() does.
    alert_sender(alert_target to, std::shared_ptr<logger> log);

    // Blocks while it is sent: three times at most.
    void send(alert what);
    [[nodiscard]] edge::alert_counts counts() const;

private:
    [[nodiscard]] edge::call_request request_of(const std::string& id,
                                                const std::string& body) const;

    const alert_target target_;
    const std::shared_ptr<logger> log_;
    std::unique_ptr<edge::caller> to_; // null: no webhook
    counter raised_, sent_, send_failed_;
};

// Looks at the traffic again and again and sends what began or is over. All outlive it.
class traffic_watch {
public:
    traffic_watch(const alert_limits& limits, duration every, std::function<traffic()> counted,
                  alert_sender& to);

private:
    std::jthread thread_;
};

} // namespace semel::app
