// What is worth a line for those who watch who comes in: for the console and the center.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace semel::edge {

struct security_event {
    enum class kind : std::uint8_t {
        signed_in,
        sign_in_refused, // the token is not known, or may not look
        signed_out,
        token_refused, // not known, or revoked
        scope_refused, // known, and not for this
        site_refused,  // a page of another site, or without the session's own secret
    };

    kind what = kind::signed_in;
    std::string_view at = {};   // "console", "center"
    std::string_view peer = {}; // address, without port
    std::string_view path = {}; // without its query
    std::string tenant = {};    // of a known token
    std::string token = {};     // its id, never itself; empty: it is not known
};

inline constexpr std::size_t security_event_kinds = 6;

// "signed_in" …
[[nodiscard]] constexpr std::string_view name(security_event::kind what) {
    constexpr std::string_view names[security_event_kinds]{"signed_in",     "sign_in_refused",
                                                           "signed_out",    "token_refused",
                                                           "scope_refused", "site_refused"};
    return names[static_cast<std::size_t>(what)];
}

// Called from any thread on the request's path: must not block. The views live until it returns.
using security_watch = std::function<void(const security_event&)>;

} // namespace semel::edge
