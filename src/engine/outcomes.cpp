#include "engine/outcomes.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"
#include "core/record_parts.hpp"
#include "semel/base/result.hpp"
#include "semel/engine/verdict.hpp"

namespace semel {

namespace {

duration left(time_point until, time_point now) {
    return std::max(duration::zero(), until - now);
}

raw_outcome replayed(stored_result&& result, std::uint64_t fence, time_point expires_at) {
    if (!holds(result)) {
        return unavailable({.code = errc::corrupt,
                            .possible = effect::none,
                            .detail = "the stored result fails its checksum; it is neither "
                                      "replayed nor run again: settle the record by hand"});
    }
    return {.kind = outcome_kind::replayed,
            .result = std::move(result),
            .by = {.fence = fence},
            .expires_at = expires_at};
}

raw_outcome said(answers::replay&& one, time_point) {
    return replayed(std::move(one.result), one.fence, one.expires_at);
}

raw_outcome said(answers::in_progress&& one, time_point now) {
    return {.kind = outcome_kind::in_progress,
            .retry_after = left(one.retry_at, now),
            .by = {.fence = one.holder.fence},
            .attempt = one.attempt};
}

raw_outcome said(answers::mismatch&& one, time_point) {
    return {.kind = outcome_kind::mismatch, .held = one.stored};
}

raw_outcome said(answers::failed&& one, time_point) {
    return {.kind = outcome_kind::failed,
            .error = std::move(one.error),
            .attempt = one.attempts,
            .expires_at = one.expires_at};
}

raw_outcome said(answers::in_doubt&& one, time_point) {
    return {.kind = outcome_kind::in_doubt, .by = {.fence = one.fence}};
}

template <class Other> raw_outcome said(Other&&, time_point) {
    SEMEL_ASSERT(false && "a begin has no such answer");
    return {};
}

// Cut to what a record may hold, between two characters of UTF-8.
std::string bounded(std::string text) {
    std::size_t end = limits{}.error_bytes_max;
    if (text.size() <= end) return text;
    const auto inside = [&](std::size_t at) { return (text[at] & 0xC0) == 0x80; };
    for (int back = 0; back < 3 && inside(end); ++back) --end;
    text.resize(end);
    return text;
}

bool is_lease_lost(const std::exception_ptr& thrown) {
    return when<lease_lost>(exception_class::release).matches(thrown);
}

// The user's own function: if it throws, the exception must still become something.
bool matches(const failure_rule& rule, const std::exception_ptr& thrown) {
    try {
        return rule.matches(thrown);
    } catch (...) {
        return false;
    }
}

failure_rule rule_for(const std::exception_ptr& thrown, const operation_policy& policy) {
    if (const auto own = when<released>(exception_class::release); own.matches(thrown)) return own;
    for (const auto& rule : policy.failures) {
        if (matches(rule, thrown)) return rule;
    }
    return {.matches = nullptr, .becomes = policy.on_exception};
}

ending end(answered_end&& done, const plan& what, const answers::started& started,
           std::string&& ref) {
    stored_result& result = done.result;
    const bool no_type = result.type.size() > limits{}.result_type_bytes_max;
    if (result.body.size() > what.policy->result_bytes_max || no_type) {
        result.kind = result_kind::tombstone;
        result.body = {};
        if (no_type) result.type = {};
    }
    result.ref = std::move(ref);
    seal(result);
    raw_outcome own{.kind = outcome_kind::executed,
                    .result = {.kind = result.kind, .type = result.type, .ref = result.ref},
                    .by = started.by,
                    .attempt = started.attempt};
    return {.what = commands::complete{.by = started.by,
                                       .result = std::move(result),
                                       .retention = what.retention},
            .own = std::move(own),
            .then = ending::next::settled};
}

ending end(retry_later_verdict&& later, const plan& what, const answers::started& started,
           std::string&&) {
    // The work has run, so its verdict is not refused: the parts that make sense are taken.
    later.error = bounded(std::move(later.error));
    later.delay = std::clamp(later.delay, duration::zero(), limits{}.duration_max);
    raw_outcome own{.kind = outcome_kind::failed,
                    .error = later.error,
                    .retry_after = later.delay,
                    .by = started.by,
                    .attempt = started.attempt};
    return {.what = commands::fail{.by = started.by,
                                   .kind = commands::failure_kind::retryable,
                                   .error = std::move(later.error),
                                   .retry_after = later.delay,
                                   .retention = what.policy->failure_retention},
            .own = std::move(own),
            .then = ending::next::open};
}

ending end(unknown_verdict&&, const plan&, const answers::started& started, std::string&&) {
    raw_outcome own{.kind = outcome_kind::in_doubt, .by = started.by, .attempt = started.attempt};
    return {.what = commands::abandon{.by = started.by},
            .own = std::move(own),
            .then = ending::next::open};
}

commands::fail failed_by(const failure_rule& rule, const plan& what,
                         const answers::started& started, std::string error) {
    const bool final = rule.becomes == exception_class::final;
    const bool own = rule.retention > duration::zero();
    return {.by = started.by,
            .kind = final ? commands::failure_kind::final : commands::failure_kind::retryable,
            .error = std::move(error),
            .retry_after = rule.retry_after,
            .retention = own ? rule.retention : what.policy->failure_retention};
}

ending end(threw_end&& threw, const plan& what, const answers::started& started, std::string&&) {
    raw_outcome own{.kind = outcome_kind::failed,
                    .error = text_of(threw.thrown),
                    .by = started.by,
                    .attempt = started.attempt,
                    .thrown = threw.thrown};
    // Another attempt has the record, or may soon have it: only say that this attempt has ended.
    if (is_lease_lost(threw.thrown)) {
        return {.what = commands::abandon{.by = started.by},
                .own = std::move(own),
                .then = ending::next::open};
    }
    const failure_rule rule = rule_for(threw.thrown, *what.policy);
    if (rule.becomes == exception_class::release) {
        return {.what = commands::release{.by = started.by},
                .own = std::move(own),
                .then = ending::next::open};
    }
    const bool final = rule.becomes == exception_class::final;
    return {.what = failed_by(rule, what, started, own.error),
            .own = std::move(own),
            .then = final ? ending::next::settled : ending::next::open};
}

} // namespace

std::string text_of(const std::exception_ptr& thrown) {
    std::string text = "unknown exception";
    try {
        std::rethrow_exception(thrown);
    } catch (const std::exception& one) {
        text = one.what();
    } catch (...) {
    }
    return bounded(std::move(text));
}

raw_outcome outcome_of(reply&& with) {
    const time_point now = with.now;
    return std::visit([&](auto&& one) { return said(std::move(one), now); }, std::move(with.said));
}

command end_of_unrun(const answers::started& of) {
    if (mutant(bug::unrun_is_counted)) return commands::abandon{.by = of.by};
    if (mutant(bug::unrun_is_forgotten)) return commands::release{.by = of.by};
    return commands::release{.by = of.by, .replaced = of.replaced};
}

raw_outcome unavailable(failure why) {
    return {.kind = outcome_kind::unavailable, .why = std::move(why)};
}

raw_outcome winners(const answers::fenced_off& fenced, const plan& what, time_point now) {
    // The record is gone: the next request decides.
    if (!fenced.current) return {.kind = outcome_kind::in_progress};
    const record& it = *fenced.current;
    // A result is only given for an equal fingerprint.
    const bool differs = it.content && what.content && *it.content != *what.content;
    if (differs && !mutant(bug::winner_not_compared)) {
        return {.kind = outcome_kind::mismatch, .held = it.content};
    }
    switch (it.state) {
    case record_state::succeeded:
        return replayed(stored_result{it.result}, it.holder.fence, it.expires_at);
    case record_state::processing:
        return {.kind = outcome_kind::in_progress,
                .retry_after = left(it.lease_until + it.policy.grace, now),
                .by = {.fence = it.holder.fence},
                .attempt = it.attempts};
    case record_state::failed_retryable:
        if (record_parts::used_up(it)) break;
        // The same answer as a begin's: the request may still succeed, so its caller should ask
        // again.
        return {.kind = outcome_kind::in_progress,
                .retry_after = left(it.retry_after, now),
                .by = {.fence = it.holder.fence},
                .attempt = it.attempts};
    case record_state::failed_final: break;
    }
    return {.kind = outcome_kind::failed,
            .error = it.error,
            .attempt = it.attempts,
            .expires_at = it.expires_at};
}

ending ending_of(work_end&& ended, const plan& what, const answers::started& started,
                 std::string result_ref) {
    try {
        return std::visit(
            [&](auto&& one) { return end(std::move(one), what, started, std::move(result_ref)); },
            std::move(ended));
    } catch (...) {
        // Out of memory. The record must have an end all the same, or it is kept for as long as
        // this process lives.
        return end(unknown_verdict{}, what, started, {});
    }
}

} // namespace semel
