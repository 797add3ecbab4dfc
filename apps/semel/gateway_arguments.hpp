// The command line of `semel gateway`, and what becomes of it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/token_file.hpp"
#include "edge/gateway/options.hpp"
#include "semel/operations.hpp"

namespace semel::app {

// Options write into what they configure. Texts that have to be read stand beside it.
struct gateway_arguments {
    edge::gateway_options options = {};
    edge::tls_server_options tls = {};
    http::route route = {}; // what all routes have in common
    http::tenant_token token = {};
    reconcile_rule reconcile = {};

    std::string listen = "127.0.0.1:7070";
    std::string upstream = {};
    std::string store = {};
    std::optional<std::string> single_tenant = {};
    std::string tenant_header = {};
    std::string tenant_tokens = {}; // file
    std::vector<std::string> trust = {}, vital_headers = {};
    std::vector<std::string> routes = {};
    std::string principal_secret = {}; // env:NAME or file:/path
    std::string probe = {};
};

// usage_error names the option that is wrong. Nothing has been opened. `tokens` are those of
// --tenant-tokens, shared with the gateway.
[[nodiscard]] edge::gateway_options options_of(const gateway_arguments& with,
                                               std::shared_ptr<const config::live_tokens> tokens);

} // namespace semel::app
