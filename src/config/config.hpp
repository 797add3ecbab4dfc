// The configuration of the server as plain values. Defaults are those of the product; every key and
// its meaning is in schema_*.cpp, from which the documentation is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/key_places.hpp"
#include "config/surroundings.hpp"
#include "edge/center/center.hpp"
#include "edge/console/console.hpp"
#include "edge/gateway/options.hpp"
#include "semel/base/time.hpp"
#include "semel/core/policy.hpp"
#include "semel/core/search.hpp"
#include "semel/http/route.hpp"
#include "semel/log.hpp"
#include "semel/open.hpp"
#include "semel/operations.hpp"
#include "semel/outbox/relay.hpp"
#include "semel/outbox/table.hpp"
#include "semel/store/decorators.hpp"

namespace semel::config {

// Every section holds the options of what it configures, so their defaults are said once, there.
// What the file writes in another form than the options have, stands beside them.

struct server_section {
    std::string listen = "127.0.0.1:7070";
    std::string admin_listen = "127.0.0.1:7071";
    std::vector<std::string> admin_hosts = {};
    bool admin_tls = false;
    bool metrics_token = false;
    edge::server_options options = {};
    edge::tls_server_options tls = {}; // without a certificate: none
    duration drain = edge::gateway_options{}.drain_time;
};

struct store_section {
    secret url = {.written = "sqlite:semel.db", .text = "sqlite:semel.db"};
    secret front = {}; // empty: none
    store_options options = {};
    cached_store_options cache = {.bytes_max = 0}; // none
    std::vector<std::string> keys = {};            // as written: "id file:/path"
    encrypted_store_options encryption = {};
};

enum class tenant_kind : std::uint8_t { none, single, header, tokens };

struct tenants_section {
    tenant_kind source = tenant_kind::none;
    http::single_tenant single = {};
    http::tenant_header header = {};
    http::tenant_token token = {};
    std::vector<std::string> trusted = {}; // addresses or networks, "10.0.0.0/8"
    std::string tokens = {};               // file
};

struct gateway_section {
    std::string upstream = {}; // empty: no gateway
    edge::upstream_options options = {};
    std::vector<std::string> vital_headers = {};
    secret principal_secret = {}; // empty: none
};

enum class unknown_operations : std::uint8_t { defaults, refuse };

struct center_section {
    bool enabled = false;
    std::string listen = "127.0.0.1:7072";
    edge::center_options options = {};
    std::size_t buffered_bytes_max = std::size_t{64} << 20U;
    unknown_operations others = unknown_operations::defaults;
};

struct console_section {
    bool enabled = true;
    edge::console_options options = {};
    std::string url = {}; // how operators reach it; empty: alerts have no link
};

struct log_section {
    spdlog_logger_options options = {};
    keys_in_logs keys = keys_in_logs::hashed;
    secret key_secret = {}; // empty: none
};

struct reconcile_section {
    bool enabled = true;
    reconciler_options options = {};
};

struct alerts_section {
    secret webhook = {};                   // empty: none
    secret signing = {}, old_signing = {}; // empty: alerts are not signed, or with one secret
    duration every = std::chrono::minutes{1};
    alert_limits limits = {};
};

// Of one operation; zero: as [reconcile] says.
struct reconcile_times {
    duration alert_after = {};
    duration settle_after = {};
};

struct route_entry {
    http::route route = {};
    std::vector<std::string> statuses = {};           // as written: "404 keep"
    std::vector<std::string> fingerprint_select = {}; // as written
    std::vector<std::string> fingerprint_ignore = {};
    std::string probe = {}; // path on the upstream
    reconcile_times times = {};
    key_places where = {};
};

struct operation_entry {
    std::string name = {};
    operation_policy policy = {};
    std::string probe = {}; // URL
    reconcile_times times = {};
    key_places where = {};
};

// A relay of outbox events; see semel/outbox/relay.hpp.
struct relay_entry {
    secret store = {}; // empty: store.url
    secret sink = {};
    outbox::on_ack ack = outbox::on_ack::remove;
    outbox::relay_options options = {};
    key_places where = {};
};

struct config {
    server_section server = {};
    store_section store = {};
    tenants_section tenants = {};
    gateway_section gateway = {};
    center_section center = {};
    console_section console = {};
    semel::limits limits = {};
    log_section log = {};
    sweep_options sweep = {};
    reconcile_section reconcile = {};
    alerts_section alerts = {};
    std::vector<route_entry> routes = {};
    std::vector<operation_entry> operations = {};
    std::vector<relay_entry> relays = {};
    key_places where = {};
};

} // namespace semel::config
