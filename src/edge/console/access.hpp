// Which caller a request has, and whether its origin may make a change. Pure, apart from the look
// at the sessions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "edge/api/api_request.hpp"
#include "edge/console/console_core.hpp"

namespace semel::edge {

inline constexpr std::string_view csrf_header = "X-Semel-Csrf";

// The cookie of that name in the Cookie header. None if there is none, or more than one: then
// another site has set one of them.
[[nodiscard]] std::optional<std::string_view> cookie(const http::header_list& headers,
                                                     std::string_view name);

// The page that sends it was served by the host that it is sent to.
[[nodiscard]] bool same_origin(const http::header_list& headers);

struct console_caller : api_caller {
    std::optional<sessions::entry> session = {}; // none: a bearer token

    [[nodiscard]] bool may_act() const { return gives.may.has(http::scope::admin); }
    [[nodiscard]] bool sees_all() const { return gives.may.allows(http::scope::operate); }
    // The tenant whose records are seen; none: all.
    [[nodiscard]] std::optional<std::string> only() const {
        return sees_all() ? std::nullopt : std::optional{gives.tenant};
    }
    // What the audit calls who did it.
    [[nodiscard]] std::string actor() const { return "console " + gives.tenant + " " + token_id(); }
};

// The caller, if it may look; else 401 or 403, which security_watch is told of.
[[nodiscard]] std::variant<console_caller, json_response>
identify(console_core& core, const http::request_head& head, std::string_view peer);
// What is wrong with a change that this caller asks for; none: it may be done.
[[nodiscard]] std::optional<json_response> refuse_change(const console_core& core,
                                                         const http::request_head& head,
                                                         std::string_view peer,
                                                         const console_caller& who);

// For security_watch.
[[nodiscard]] api_sender sender_of(const console_core& core, const http::request_head& head,
                                   std::string_view peer);

} // namespace semel::edge
