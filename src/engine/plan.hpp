// A request with its operation's policy and its own overrides put together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "semel/base/result.hpp"
#include "semel/core/command.hpp"
#include "semel/core/policy.hpp"
#include "semel/engine.hpp"
#include "semel/engine/request.hpp"

namespace semel {

struct plan {
    record_id id = {};
    std::uint64_t hash = 0;
    std::optional<fingerprint> content = {};
    const operation_policy* policy = nullptr; // lives as long as the engine
    duration lease = {};
    duration retention = {};
    wait_mode wait = wait_mode::answer;
    duration wait_max = {};
    std::string attributes = {};
};

// Checks everything a caller can get wrong; the failure's detail names the field and the limit.
[[nodiscard]] result<plan> plan_of(request&& what, const operation_policy& policy,
                                   const limits& bounds);

// The same for a policy, once, when the engine is made.
[[nodiscard]] result<void> check(const operation_policy& policy, const limits& bounds);
[[nodiscard]] result<void> check(const engine_options& options);

[[nodiscard]] record_policy stored_policy(const operation_policy& policy);

[[nodiscard]] commands::begin begin_of(const plan& what, owner_id owner);

} // namespace semel
