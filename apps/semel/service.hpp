// What `semel serve` runs: the gateway, the center, relays and the admin pages on one engine.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "alert_sender.hpp"
#include "config/config.hpp"
#include "config/token_file.hpp"
#include "edge/admin/admin.hpp"
#include "edge/center/center.hpp"
#include "edge/console/console.hpp"
#include "edge/gateway/gateway.hpp"
#include "edge/server/server.hpp"
#include "relays.hpp"
#include "security_log.hpp"
#include "semel/base/runtime.hpp"
#include "semel/engine.hpp"
#include "semel/log.hpp"
#include "semel/operations.hpp"
#include "token_source.hpp"
#include "wiring.hpp"

namespace semel::app {

class service {
public:
    // Listens and serves from here on. Throws usage_error or std::runtime_error.
    explicit service(config::config with);
    ~service();

    // One line for each listener.
    [[nodiscard]] std::string about() const;
    // Those in effect stay if the file cannot be read. By one thread, both.
    void reload_tokens();
    void look_at_tokens(); // whether the file has changed
    // One more token, until the file of tokens is read again. For a service that has none.
    void allow(std::string_view token, http::grant gives);
    // Precondition: there is a gateway.
    [[nodiscard]] std::string gateway_address() const { return gateway_->address().text(); }
    // Where the console is; empty: nowhere.
    [[nodiscard]] std::string console_url() const;
    [[nodiscard]] duration drain_time() const { return config_.server.drain; }
    // Stops being ready, ends all waiting, and waits for running requests. Blocks.
    [[nodiscard]] edge::drained drain();

private:
    void start_housekeeping();
    void open_admin();
    [[nodiscard]] std::string admin_url() const;
    [[nodiscard]] std::string metrics() const;
    [[nodiscard]] std::string notes() const; // of /ready
    [[nodiscard]] semel::traffic traffic() const;
    [[nodiscard]] edge::console_numbers numbers() const;

    // In the order in which they depend on each other.
    const config::config config_;
    const std::shared_ptr<logger> log_;
    const std::shared_ptr<runtime> timers_; // not shared further; see the center's contract
    store_meters meters_;
    const std::shared_ptr<config::live_tokens> tokens_; // shared with the gateway and the center
    std::optional<token_source> token_source_;          // none: no file of tokens
    security_log security_;
    const std::shared_ptr<edge::mismatch_log> mismatches_; // shared with engine, center, console
    std::optional<semel::engine> engine_;
    std::optional<edge::center> center_;
    std::unique_ptr<edge::gateway> gateway_;
    std::unique_ptr<edge::server> center_server_;
    std::optional<relays> relays_;
    std::unique_ptr<alert_sender> alerts_;
    std::unique_ptr<reconciler> reconciler_; // null: not wanted
    std::optional<traffic_watch> watch_;
    std::optional<edge::console> console_;
    std::optional<edge::admin> admin_;
    std::unique_ptr<edge::server> admin_server_;
};

} // namespace semel::app
