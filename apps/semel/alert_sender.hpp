// Where alerts go: into the log, and to a webhook if there is one.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "edge/admin/metrics.hpp"
#include "edge/gateway/caller.hpp"
#include "semel/alert.hpp"
#include "semel/log.hpp"

namespace semel::app {

// Thread-safe.
class alert_sender {
public:
    // Throws as opened() does. An empty webhook is none.
    alert_sender(const std::string& webhook, std::shared_ptr<logger> log);

    // Blocks while it is sent: three times at most.
    void send(const alert& what);
    [[nodiscard]] edge::alert_counts counts() const;

private:
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
