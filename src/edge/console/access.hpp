// Who asks, and whether a change may come from where it says it comes from. Pure but for the look
// at the sessions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "edge/center/told.hpp"
#include "edge/console/console_core.hpp"

namespace semel::edge {

inline constexpr std::string_view session_cookie = "semel_session";
inline constexpr std::string_view csrf_header = "X-Semel-Csrf";

// Of that name in the Cookie header; none if there is none, or more than one: then somebody else
// has set one of them.
[[nodiscard]] std::optional<std::string_view> cookie(const http::header_list& headers,
                                                     std::string_view name);

// The page that sends it was served by the host that it is sent to.
[[nodiscard]] bool same_origin(const http::header_list& headers);

struct console_caller {
    http::grant gives = {};
    fingerprint token;
    std::optional<sessions::entry> session = {}; // none: a bearer token

    [[nodiscard]] bool may_act() const { return gives.may.has(http::scope::admin); }
    // The tenant whose records are seen; none: all.
    [[nodiscard]] std::optional<std::string> only() const {
        return may_act() ? std::nullopt : std::optional{gives.tenant};
    }
    // What the audit calls who did it: never the token itself.
    [[nodiscard]] std::string actor() const {
        return "console " + gives.tenant + " " + token.hex().substr(0, 12);
    }
};

// Somebody who may look; else 401 or 403.
[[nodiscard]] std::variant<console_caller, told> identify(console_core& core,
                                                          const http::request_head& head);
// What is wrong with a change that this caller asks for; none: it may be done.
[[nodiscard]] std::optional<told>
refuse_change(const console_core& core, const http::request_head& head, const console_caller& who);

} // namespace semel::edge
