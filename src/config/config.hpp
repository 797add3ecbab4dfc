// The configuration of the server as plain values. Defaults are those of the product; every key and
// its meaning is in schema_*.cpp, from which the documentation is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "config/places.hpp"
#include "config/surroundings.hpp"
#include "edge/gateway/options.hpp"
#include "semel/base/time.hpp"
#include "semel/core/policy.hpp"
#include "semel/core/search.hpp"
#include "semel/http/route.hpp"
#include "semel/log.hpp"
#include "semel/outbox/relay.hpp"
#include "semel/store/decorators.hpp"

namespace semel::config {

struct server_section {
    std::string listen = "127.0.0.1:7070";
    std::string admin_listen = "127.0.0.1:7071";
    std::vector<std::string> admin_hosts = {};
    bool admin_tls = false;
    bool metrics_token = false;
    std::size_t threads = 0; // one per core
    std::vector<std::string> hosts = {};
    std::string tls_certificate = {};
    std::string tls_key = {};
    std::string tls_client_ca = {};
    bool tls_client_required = false;
    std::size_t connections_max = 10'000;
    std::size_t connections_per_address_max = 2'500; // 0: no bound
    std::size_t head_bytes_max = std::size_t{32} << 10U;
    duration head_timeout = std::chrono::seconds{10};
    duration body_timeout = std::chrono::seconds{30};
    duration body_time_max = std::chrono::minutes{5};
    duration write_timeout = std::chrono::seconds{30};
    duration idle_timeout = std::chrono::seconds{60};
    duration drain = std::chrono::seconds{30};
};

struct store_section {
    secret url = {.written = "sqlite:semel.db", .text = "sqlite:semel.db"};
    secret front = {}; // empty: none
    std::string table_prefix = "semel_";
    std::size_t queue_max = limits{}.queue_max;
    std::size_t cache_bytes = 0; // none
    duration cache_age = std::chrono::minutes{1};
    std::vector<std::string> encryption_keys = {}; // as written: "id file:/path"
    std::vector<encryption_key> keys = {};         // what they stand for
    unencrypted others = unencrypted::refuse;
};

enum class tenant_kind : std::uint8_t { none, single, header, tokens };

struct tenants_section {
    tenant_kind source = tenant_kind::none;
    std::string name = {};
    std::string header = "X-Tenant";
    std::vector<std::string> trusted = {}; // addresses or networks, "10.0.0.0/8"
    std::string tokens = {};               // file
    std::string token_header = "Authorization";
    bool forward_token = false;
};

struct gateway_section {
    std::string upstream = {}; // empty: no gateway
    std::string tls_ca = {};
    duration connect_timeout = std::chrono::seconds{5};
    duration answer_timeout = std::chrono::seconds{60};
    std::size_t connections_max = 512;
    std::size_t answer_bytes_max = std::size_t{16} << 20U;
    edge::upstream_options::host_seen host = edge::upstream_options::host_seen::clients;
    std::vector<std::string> vital_headers = {};
    edge::upstream_options::names_with_underscores underscores =
        edge::upstream_options::names_with_underscores::drop;
    secret principal_secret = {}; // empty: none
};

enum class unknown_operations : std::uint8_t { defaults, refuse };

struct center_section {
    bool enabled = false;
    std::string listen = "127.0.0.1:7072";
    std::size_t body_bytes_max = std::size_t{8} << 20U;
    std::size_t buffered_bytes_max = std::size_t{64} << 20U;
    std::size_t batch_max = 256;
    duration wait_max = std::chrono::seconds{30};
    std::size_t waiters_max = 10'000;
    unknown_operations others = unknown_operations::defaults;
};

struct limits_section : semel::limits {
    std::size_t buffered_bytes_max = edge::default_buffered_bytes_max;
};

struct console_section {
    bool enabled = true;
    duration session = std::chrono::hours{8};
    duration idle = std::chrono::hours{1};
    bool secure_cookie = false;
    std::string url = {}; // how operators reach it; empty: alerts have no link
};

struct log_section {
    log_level level = log_level::info;
    log_format format = log_format::pretty;
    keys_in_logs keys = keys_in_logs::hashed;
    secret key_secret = {}; // empty: none
};

// How long records stay in doubt before something happens; see semel/operations.hpp.
struct reconcile_section {
    bool enabled = true;
    duration every = std::chrono::seconds{30};
    duration alert_after = std::chrono::minutes{5};
    duration settle_after = std::chrono::minutes{10};
    std::size_t probes_at_once = 4;
};

struct alerts_section {
    secret webhook = {};                   // empty: none
    secret signing = {}, old_signing = {}; // empty: alerts are not signed, or with one secret
    duration every = std::chrono::minutes{1};
    std::size_t replay_percent = 50;
    std::size_t mismatch_percent = 5;
    std::size_t store_failure_percent = 1;
    std::size_t requests_min = 100;
    duration outbox_lag = std::chrono::minutes{5};
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
    places where = {};
};

struct operation_entry {
    std::string name = {};
    operation_policy policy = {};
    std::string probe = {}; // URL
    reconcile_times times = {};
    places where = {};
};

// A relay of outbox events; see semel/outbox/relay.hpp.
struct relay_entry {
    secret store = {}; // empty: store.url
    secret sink = {};
    bool archive = false;
    outbox::relay_options options = {};
    places where = {};
};

struct config {
    server_section server = {};
    store_section store = {};
    tenants_section tenants = {};
    gateway_section gateway = {};
    center_section center = {};
    console_section console = {};
    limits_section limits = {};
    log_section log = {};
    sweep_options sweep = {};
    reconcile_section reconcile = {};
    alerts_section alerts = {};
    std::vector<route_entry> routes = {};
    std::vector<operation_entry> operations = {};
    std::vector<relay_entry> relays = {};
    places where = {};
};

} // namespace semel::config
