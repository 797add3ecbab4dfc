// Where the tenant of a request comes from. There is no default: keys of different clients must
// never meet, so a source has to be chosen. Any thread, if the callback is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "semel/http/message.hpp"
#include "semel/result.hpp"

namespace semel::http {

// Whether the peer of a request may name the tenant. The adapter decides it by the connection's
// address or certificate.
enum class peer_trust : std::uint8_t { untrusted, trusted };

// All requests belong to this tenant.
struct single_tenant {
    std::string name = {};
};

// A proxy that has authenticated the client names the tenant in a header. From other peers the
// header is refused, not ignored: a request that claims a tenant must not go on without one.
struct tenant_header {
    std::string name = "X-Tenant";
};

// A client's bearer token: `Authorization: Bearer <token>`, or the token alone in a header of its
// own, which leaves Authorization to the service. Callbacks run on the request's path: they must
// not block.
struct tenant_token {
    // The tenant of a token that may use its keys, or none (see token.hpp).
    std::function<std::optional<std::string>(std::string_view token)> tenant_of = {};
    // Is it a token of ours, whatever it may do? None: those that tenant_of knows are.
    std::function<bool(std::string_view token)> is_own = {};
    std::string header = "Authorization";
    // Whether the service gets to see the token. It could act as the client with it.
    enum class forwarding : std::uint8_t { drop, pass } forward = forwarding::drop;
};

using tenant_source = std::variant<std::monostate, single_tenant, tenant_header, tenant_token>;

// invalid_argument if there is no source, or if it lacks its name or callback: refuse to start.
[[nodiscard]] result<void> check(const tenant_source& source);

struct refused_tenant {
    int status = 401;
    std::string detail = {};
    std::string challenge = {}; // WWW-Authenticate, if any
};

// Exactly one line, 1 to 64 bytes of visible ASCII; anything else is refused.
[[nodiscard]] std::variant<std::string, refused_tenant>
tenant_of(const tenant_source& source, const header_list& headers, peer_trust peer);

// For the headers that go on to the service: without a token of ours, unless its source says that
// it goes on.
void drop_own_token(header_list& headers, const tenant_source& source);

} // namespace semel::http
