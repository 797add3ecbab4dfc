// Which keys there are. The only list of them: reading, showing, variables and the documentation
// all follow it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "config/field.hpp"

namespace semel::config {

// [server], [store] …: at most once each.
struct section {
    std::string name;
    std::string meaning;
    fields keys; // bound to the configuration the section was made from
};

[[nodiscard]] std::vector<section> sections_of(config& of);

// [[route]], [[operation]] and [[relay]]: any number of each.
[[nodiscard]] fields fields_of(route_entry& of);
[[nodiscard]] fields fields_of(operation_entry& of);
[[nodiscard]] fields fields_of(relay_entry& of);

inline constexpr std::string_view route_meaning =
    "Which requests the gateway protects, and how. The first that fits a request is its route; a "
    "request that fits none passes through. Without any, POST and PATCH are protected when a key "
    "is present.";
inline constexpr std::string_view operation_meaning =
    "How long records of the center's operations live. An operation that is not named here has the "
    "defaults.";
inline constexpr std::string_view relay_meaning =
    "Carries events of an outbox to a sink; see [the outbox](outbox.md). The console shows the "
    "outbox of the first one.";

} // namespace semel::config
