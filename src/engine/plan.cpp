#include "engine/plan.hpp"

#include <string_view>
#include <utility>

#include "core/sweep_plan.hpp"
#include "semel/fingerprint.hpp"

namespace semel {

namespace {

failure invalid(std::string_view field, std::string_view what) {
    std::string detail{field};
    return {.code = errc::invalid_argument, .detail = detail.append(" ").append(what)};
}

result<void> check_text(std::string_view field, const std::string& text, std::size_t bytes_max) {
    if (text.empty()) return invalid(field, "must not be empty");
    if (text.size() <= bytes_max) return {};
    return failure{.code = errc::limit_exceeded,
                   .detail = std::string{field} + " has " + std::to_string(text.size()) +
                             " bytes; the limit is " + std::to_string(bytes_max)};
}

result<void> check_duration(std::string_view field, duration value, const limits& bounds) {
    if (value <= duration::zero()) return invalid(field, "must be greater than zero");
    if (value <= bounds.duration_max) return {};
    return failure{.code = errc::limit_exceeded,
                   .detail = std::string{field} + " is longer than limits.duration_max"};
}

result<void> check_delay(std::string_view field, duration value, const limits& bounds) {
    return value == duration::zero() ? result<void>{} : check_duration(field, value, bounds);
}

// The first that fails.
template <class... Checks> result<void> all(Checks&&... checks) {
    result<void> verdict;
    static_cast<void>(((verdict = checks(), verdict.has_value()) && ...));
    return verdict;
}

result<void> check_names(const record_id& id, const limits& bounds) {
    return all([&] { return check_text("tenant", id.tenant, bounds.tenant_bytes_max); },
               [&] { return check_text("operation", id.operation, bounds.operation_bytes_max); },
               [&] { return check_text("key", id.key, bounds.key_bytes_max); });
}

result<void> check_plan(const plan& made, const limits& bounds) {
    if (made.attributes.size() > bounds.attributes_bytes_max) {
        return failure{.code = errc::limit_exceeded,
                       .detail = "attributes have " + std::to_string(made.attributes.size()) +
                                 " bytes; the limit is " +
                                 std::to_string(bounds.attributes_bytes_max)};
    }
    return all([&] { return check_duration("lease", made.lease, bounds); },
               [&] { return check_duration("retention", made.retention, bounds); },
               [&] { return check_delay("wait_max", made.wait_max, bounds); },
               [&] { return check_names(made.id, bounds); });
}

result<void> check_rule(const failure_rule& rule, const limits& bounds) {
    if (rule.matches == nullptr) return invalid("a failure rule", "must have a matcher");
    return all([&] { return check_delay("retention of a failure rule", rule.retention, bounds); },
               [&] { return check_delay("retry_after of a rule", rule.retry_after, bounds); });
}

} // namespace

result<void> check(const operation_policy& policy, const limits& bounds) {
    if (policy.attempts_max == 0) return invalid("attempts_max", "must be at least 1");
    if (policy.result_bytes_max > bounds.result_bytes_max) {
        return failure{.code = errc::limit_exceeded,
                       .detail = "result_bytes_max is over limits.result_bytes_max"};
    }
    for (const auto& rule : policy.failures) {
        if (auto fine = check_rule(rule, bounds); !fine) return fine;
    }
    return all(
        [&] { return check_duration("lease", policy.lease, bounds); },
        [&] { return check_duration("retention", policy.retention, bounds); },
        [&] { return check_duration("failure_retention", policy.failure_retention, bounds); },
        [&] { return check_duration("processing_max", policy.processing_max, bounds); },
        [&] { return check_delay("wait_max", policy.wait_max, bounds); },
        [&] { return check_delay("grace", policy.grace, bounds); });
}

result<void> check(const engine_options& options) {
    // Keeps every sum of a moment and a duration far from the end of time.
    static constexpr duration safe = std::chrono::hours{24 * 366 * 1'000};
    const limits& bounds = options.limits;
    if (bounds.duration_max > safe) return invalid("duration_max", "is longer than 1,000 years");
    if (auto fine = check(options.sweep); !fine) return fine;
    return all(
        [&] { return check_delay("store_patience", options.store_patience, bounds); },
        [&] { return check_delay("confirm_max", options.confirm_max, bounds); },
        [&] { return check_delay("completion_patience", options.completion_patience, bounds); },
        [&] { return check_delay("drain_max", options.drain_max, bounds); },
        [&] { return check_duration("sweep.idle", options.sweep.idle, bounds); },
        [&] { return check_duration("sweep.busy", options.sweep.busy, bounds); });
}

result<plan> plan_of(request&& what, const operation_policy& policy, const limits& bounds) {
    if (what.key.empty() && what.content) what.key = key_from(*what.content);
    plan made{.id = {.tenant = std::move(what.tenant),
                     .operation = std::move(what.operation),
                     .key = std::move(what.key)},
              .content = what.content,
              .policy = &policy,
              .lease = what.with.lease.value_or(policy.lease),
              .retention = what.with.retention.value_or(policy.retention),
              .wait = what.with.wait.value_or(policy.wait),
              .wait_max = what.with.wait_max.value_or(policy.wait_max),
              .attributes = std::move(what.with.attributes)};
    if (auto fine = check_plan(made, bounds); !fine) return std::move(fine).error();
    if (made.wait_max == duration::zero()) made.wait = wait_mode::answer;
    made.hash = hash_of(made.id);
    return made;
}

record_policy stored_policy(const operation_policy& policy) {
    return {.on_lease_expiry = policy.on_lease_expiry,
            .attempts_max = policy.attempts_max,
            .grace = policy.grace,
            .processing_max = policy.processing_max};
}

commands::begin begin_of(const plan& what, owner_id owner) {
    return {.content = what.content,
            .owner = owner,
            .lease = what.lease,
            .policy = stored_policy(*what.policy),
            .mismatch = what.policy->mismatch,
            .attributes = what.attributes};
}

} // namespace semel
