// The relays of `semel serve`, and what the console sees of their outbox.
#pragma once

#include <memory>
#include <vector>

#include "config/config.hpp"
#include "edge/console/outbox_desk.hpp"
#include "semel/log.hpp"
#include "semel/outbox/relay.hpp"

namespace semel::app {

class relays {
public:
    // Every [[relay]] runs from here on. Throws std::runtime_error.
    relays(const config::config& with, const std::shared_ptr<logger>& log);

    // What sinks are doing is finished, the rest given back.
    void stop();

    // Of the first relay; null where there is none.
    [[nodiscard]] edge::outbox_desk* desk() const { return desk_.get(); }
    // In the order of the configuration. Any thread.
    [[nodiscard]] std::vector<outbox::relay_metrics> metrics() const;
    // How long the oldest event waits.
    [[nodiscard]] duration lag() const;

private:
    std::unique_ptr<edge::outbox_desk> desk_;
    std::vector<std::unique_ptr<outbox::relay>> running_;
};

} // namespace semel::app
