// What the upstream gets to see of a request. Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "edge/gateway/options.hpp"
#include "semel/http.hpp"
#include "semel/http/message.hpp"
#include "semel/http/tenant.hpp"

namespace semel::edge {

struct client_facts {
    std::string_view address = {};
    http::peer_trust trust = http::peer_trust::untrusted;
    enum class over : std::uint8_t { plain, tls } transport = over::plain;
    const http::tenant_source* tenants = nullptr; // null: none
    // Names that a client's header keeps although it holds a '_'.
    std::span<const std::string> vital = {};
};

// Appends the head of the request for the upstream. Hop-by-hop headers go, Via and X-Forwarded-For,
// -Proto and -Host come; what an untrusted client says about itself in them, about the path it asks
// for, or about its tenant, is not passed on. Nor is a token of ours. `call` is null for requests
// that pass through.
void write_forwarded_head(std::string& to, const upstream_options& upstream,
                          const http::request_head& head, const http::protected_call* call,
                          const client_facts& client, const http::body_framing& framing);

// Methods that are meant to have a body. Servers take such a request without a length for one whose
// length was lost; of other requests they may overlook the body.
[[nodiscard]] inline bool has_usual_body(std::string_view method) {
    return method == "POST" || method == "PATCH" || method == "PUT";
}

// The headers of a response that is passed on: without hop-by-hop ones. Content-Length stays for
// answers to HEAD, where it is information; the writer of any other head leaves it out.
[[nodiscard]] http::header_list response_headers(http::header_list&& from);

} // namespace semel::edge
