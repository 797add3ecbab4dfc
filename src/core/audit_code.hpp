// How drivers write the states of an audit entry: the state's own number, or -1 for none.
#pragma once

#include <cstdint>
#include <optional>

#include "semel/core/record.hpp"

namespace semel {

[[nodiscard]] constexpr std::int64_t audit_code(std::optional<record_state> state) {
    return state ? static_cast<std::int64_t>(*state) : -1;
}

[[nodiscard]] constexpr std::optional<record_state> audit_state(std::int64_t code) {
    constexpr auto last = static_cast<std::int64_t>(record_state::failed_final);
    if (code < 0 || code > last) return std::nullopt;
    return static_cast<record_state>(code);
}

} // namespace semel
