// The relays of `semel serve`.
#pragma once

#include <memory>
#include <vector>

#include "config/config.hpp"
#include "semel/log.hpp"
#include "semel/outbox/relay.hpp"

namespace semel::app {

class relays {
public:
    // Every [[relay]] runs from here on. Throws std::runtime_error.
    relays(const config::config& with, const std::shared_ptr<logger>& log);

    // What sinks are doing is finished, the rest given back.
    void stop();

    // Opens the outbox of the first relay; empty where there is no relay.
    [[nodiscard]] const outbox::table_opener& outbox() const { return outbox_; }
    // In the order of the configuration. Any thread.
    [[nodiscard]] std::vector<outbox::relay_metrics> metrics() const;
    // How long the oldest event waits.
    [[nodiscard]] duration lag() const;

private:
    outbox::table_opener outbox_;
    std::vector<std::unique_ptr<outbox::relay>> running_;
};

} // namespace semel::app
