// Whose request it is within its tenant, as a route's `principal` says. Pure; any thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "semel/http/message.hpp"
#include "semel/http/route.hpp"
#include "semel/http/tenant.hpp"

namespace semel::http {

// '~' and 32 hex digits, behind the key of a record.
inline constexpr std::size_t principal_bytes = 33;

// True if the principal names values. False if it is only "shared".
[[nodiscard]] bool names_principal(const route& one);

// What the key of this request's record ends with: empty where the route names no values. None: the
// request has none of them and is to be refused. What only proxies say (X-Forwarded-User) counts if
// the peer is trusted: the service does not get such a header of another peer either.
[[nodiscard]] std::optional<std::string> principal_of(const route& how, std::string_view tenant,
                                                      const header_list& headers,
                                                      const std::string& secret, peer_trust peer);

// What is wrong with the route's principal, or empty.
[[nodiscard]] std::string check_principal(const route& one, const gate_options& within);

} // namespace semel::http
