// What is known about single headers. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "semel/http/message.hpp"

namespace semel::http {

// Whether a header concerns one connection only, whether or not Connection names it. Content-Length
// is such a header: every hop frames the message itself.
[[nodiscard]] bool is_hop_by_hop(std::string_view name);

// Is it a member of Connection?
[[nodiscard]] bool connection_names(const std::vector<std::string_view>& connection,
                                    std::string_view name);

// Headers in which proxies describe a client or the path that it asked for: X-Forwarded-* and
// similar ones. Such a header of an untrusted client is ignored.
[[nodiscard]] bool is_for_proxies_to_say(std::string_view name);

template <class Names> [[nodiscard]] bool is_one_of(std::string_view name, const Names& names) {
    for (const std::string_view one : names) {
        if (equal_ignoring_case(one, name)) return true;
    }
    return false;
}

} // namespace semel::http
