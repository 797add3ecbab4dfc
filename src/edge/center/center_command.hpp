// One thing a client asks for, read from JSON and checked against every limit: nothing wrong gets
// as far as the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "edge/api/json_response.hpp"
#include "edge/center/center.hpp"
#include "semel/core/command.hpp"

namespace semel::edge {

enum class action : std::uint8_t { begin, complete, fail, abandon, renew, checkpoint, release };

// "begin", "complete" …: the end of the path and the `do` of a batch's item.
[[nodiscard]] std::optional<action> action_named(std::string_view name);

struct center_command {
    record_id id = {};
    command what = {};
    duration wait = {}; // begin only
    bool kept = true;   // complete only: false where the result is too large to be kept
};

// Who asks.
using caller = http::grant;

// Problems: key-missing, key-too-long, operation-unknown, forbidden (a tenant that is not the
// caller's to name) and request-malformed, whose detail names the member.
[[nodiscard]] std::variant<center_command, json_response>
read_command(action what, const json& body, const caller& who, const center_options& options);

// The tenant that a request is about: the caller's own, or, for admins, the one that is named.
[[nodiscard]] std::variant<std::string, json_response>
tenant_for(const std::optional<std::string>& named, const caller& who,
           const center_options& options);

[[nodiscard]] std::variant<center_command, json_response>
read_lookup(record_id id, const center_options& options);

} // namespace semel::edge
