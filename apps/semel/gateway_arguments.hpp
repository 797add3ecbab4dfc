// The command line of `semel gateway`, and what becomes of it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/token_file.hpp"
#include "edge/gateway/options.hpp"

namespace semel::app {

struct gateway_arguments {
    std::string listen = "127.0.0.1:7070";
    std::string upstream = {};
    std::string store = {};

    std::optional<std::string> single_tenant = {};
    std::string tenant_header = {};
    std::string tenant_tokens = {}; // file
    std::string token_header = "Authorization";
    bool forward_token = false;
    std::vector<std::string> trust = {}, vital_headers = {};
    bool pass_underscores = false;

    std::vector<std::string> routes = {};
    bool require_key = false, derive_key = false, strict_key = false;
    std::vector<std::string> key_headers = {};
    std::vector<std::string> principal = {};
    std::string principal_missing = "refuse";
    std::string principal_secret = {}; // env:NAME or file:/path
    std::string profile = "2xx";
    std::string lease = "30s", retention = "24h", wait = "10s";
    std::string on_lease_expiry = "retry";
    std::string probe = {};
    std::string alert_after = "5m", settle_after = "10m";
    bool fail_open = false;
    std::string forward = "same";
    std::size_t body_max = std::size_t{8} << 20U;

    std::vector<std::string> hosts = {};
    std::string connect_time = "5s", answer_time = "60s", drain_time = "30s";
    std::string upstream_ca = {};
    std::string tls_certificate = {}, tls_key = {}, client_ca = {};
    bool require_client_certificate = false;
    unsigned threads = 0;
    std::size_t connections = 10'000, connections_per_address = 2'500;
    std::size_t buffered_max = edge::default_buffered_bytes_max;
};

// usage_error names the option that is wrong. Nothing has been opened. `tokens` are those of
// --tenant-tokens, shared with the gateway.
[[nodiscard]] edge::gateway_options options_of(const gateway_arguments& with,
                                               std::shared_ptr<const config::live_tokens> tokens);

} // namespace semel::app
