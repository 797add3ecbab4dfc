// From what came of the work to its record, and from the record to an answer.
#include <algorithm>
#include <array>
#include <utility>

#include "http/header_rules.hpp"
#include "http/own_outcome.hpp"
#include "http/text.hpp"
#include "semel/base/result.hpp"
#include "semel/http.hpp"

namespace semel::http {
namespace {

// The error text of a failed record; answer_for finds the status in it again.
constexpr std::string_view error_prefix = "http ";

std::string error_text(int status, std::string_view why) {
    std::string text = std::string{error_prefix} + std::to_string(status);
    if (!why.empty()) text.append(" ").append(why);
    return text;
}

std::optional<int> status_in(std::string_view error) {
    if (!error.starts_with(error_prefix)) return std::nullopt;
    const auto status = to_number(error.substr(error_prefix.size(), 3));
    if (!status || *status < 400 || *status > 599) return std::nullopt;
    return static_cast<int>(*status);
}

// These headers are about this record. A service with records of its own sets them about others.
constexpr std::array<std::string_view, 4> own_words = {
    "Idempotent-Replayed", "Idempotency-Expires", "Idempotency-Stored", "Idempotency-Protected"};

const problem_options& problems_of(const protected_call& call) {
    return call.within.options().problems;
}

response answered(const protected_call& call, const problem& what) {
    return to_response(what, problems_of(call), call.how->responses);
}

// ---- settling

duration retry_after_in(const response& got) {
    constexpr std::uint64_t seconds_max = 24UL * 60 * 60;
    const std::string* text = got.headers.find("Retry-After");
    const auto seconds = text != nullptr ? to_number(*text) : std::nullopt;
    return std::chrono::seconds{std::min(seconds.value_or(0), seconds_max)};
}

work_end kept(const protected_call& call, const response& got, result_kind as) {
    stored_result result = encode(got, call.how->replay, call.how->policy.result_bytes_max);
    if (result.kind != result_kind::tombstone) result.kind = as;
    return answered_end{std::move(result)};
}

work_end released_end() {
    return threw_end{std::make_exception_ptr(response_released{})};
}

work_end end_of(const protected_call& call, const response& got, disposition becomes) {
    switch (becomes) {
    case disposition::keep: return kept(call, got, result_kind::value);
    case disposition::reject: return kept(call, got, result_kind::rejection);
    case disposition::retry:
        return retry_later_verdict{.error = error_text(got.status, {}),
                                   .delay = retry_after_in(got)};
    case disposition::release: return released_end();
    case disposition::unknown: break;
    }
    return unknown_verdict{};
}

settled settle_one(const protected_call& call, full_answer&& with) {
    response& own = with.got;
    const disposition becomes =
        dispose(call.how->statuses, call.how->responses, own.status, with.so_far);
    work_end end = end_of(call, own, becomes);
    remove_hop_by_hop(own.headers);
    own.headers.remove_if(
        [](const header& line) { return !fit_for_wire(line) || is_one_of(line.name, own_words); });
    return {.end = std::move(end), .own = std::move(own)};
}

settled settle_one(const protected_call& call, nothing_sent&& with) {
    problem what{.kind = problem_kind::upstream_unreachable,
                 .retry_after = std::max(with.retry_after, problems_of(call).retry_after)};
    response own = answered(call, what);
    if (with.attempt == 1) return {.end = released_end(), .own = std::move(own)};
    return {.end = retry_later_verdict{.error = error_text(status_of(what.kind), with.why),
                                       .delay = with.retry_after},
            .own = std::move(own)};
}

settled settle_one(const protected_call& call, no_answer&&) {
    return {.end = unknown_verdict{},
            .own = answered(call, {.kind = problem_kind::outcome_unknown})};
}

// ---- answering

void mark(response& answer, const protected_call& call, const raw_outcome& outcome) {
    const profile style = call.how->responses;
    if (outcome.kind == outcome_kind::replayed) answer.headers.set("Idempotent-Replayed", "true");
    if (outcome.expires_at) {
        answer.headers.set("Idempotency-Expires", http_date(*outcome.expires_at));
    }
    if (outcome.result.kind == result_kind::tombstone) {
        answer.headers.set("Idempotency-Stored", "false");
    }
    if (call.key && (style == profile::stripe_v1 || style == profile::stripe_v2)) {
        answer.headers.set("Idempotency-Key", call.key->text);
    }
}

// Where it is and which version it is are known though its body is not.
response not_kept(const protected_call& call, const response& known) {
    problem what{.kind = problem_kind::result_not_kept};
    if (known.status != 0) what.original_status = known.status;
    response answer = answered(call, what);
    for (const std::string_view name : {"Location", "ETag"}) {
        if (const auto* value = known.headers.find(name))
            answer.headers.add(std::string{name}, *value);
    }
    return answer;
}

response replay(const protected_call& call, const raw_outcome& outcome) {
    result<response> known = decode(outcome.result, call.how->replay);
    if (!known) return answered(call, {.kind = problem_kind::result_unreadable});
    response answer =
        outcome.result.kind == result_kind::tombstone ? not_kept(call, *known) : *std::move(known);
    // A replay is meant for one client. Records from before Cache-Control was kept have none
    // either.
    if (!answer.headers.contains("Cache-Control")) answer.headers.add("Cache-Control", "no-store");
    mark(answer, call, outcome);
    return answer;
}

response unavailable_answer(const protected_call& call, const raw_outcome& outcome) {
    const errc why = outcome.why ? outcome.why->code : errc::unavailable;
    if (why == errc::corrupt) return answered(call, {.kind = problem_kind::result_unreadable});
    // Coming again does not help against what is wrong with the request or the configuration.
    if (why == errc::invalid_argument || why == errc::limit_exceeded) {
        return answered(call, {.kind = problem_kind::unavailable,
                               .status = 500,
                               .detail = "The server's limits do not allow this request. Sending "
                                         "it again does not help; the server's log says more."});
    }
    return answered(
        call, {.kind = problem_kind::unavailable, .retry_after = problems_of(call).retry_after});
}

response problem_answer(const protected_call& call, const raw_outcome& outcome) {
    switch (outcome.kind) {
    case outcome_kind::in_progress:
        return answered(call,
                        {.kind = problem_kind::in_progress, .retry_after = outcome.retry_after});
    case outcome_kind::mismatch: return answered(call, {.kind = problem_kind::mismatch});
    case outcome_kind::in_doubt: return answered(call, {.kind = problem_kind::in_doubt});
    case outcome_kind::failed:
        return answered(call, {.kind = problem_kind::failed,
                               .status = status_in(outcome.error),
                               .attempts = outcome.attempt});
    case outcome_kind::unconfirmed:
        return answered(call, {.kind = problem_kind::unconfirmed,
                               .retry_after = problems_of(call).retry_after});
    case outcome_kind::unavailable:
    case outcome_kind::executed:
    case outcome_kind::replayed: break;
    }
    return unavailable_answer(call, outcome);
}

} // namespace

settled settle(const protected_call& call, upstream_result&& with) {
    return std::visit([&](auto&& one) { return settle_one(call, std::move(one)); },
                      std::move(with));
}

response answer_for(const protected_call& call, const raw_outcome& outcome,
                    std::optional<response> own) {
    if (own && is_own(outcome)) {
        mark(*own, call, outcome);
        return *std::move(own);
    }
    if (outcome.kind == outcome_kind::replayed) return replay(call, outcome);
    SEMEL_ASSERT(outcome.kind != outcome_kind::executed);
    response answer = problem_answer(call, outcome);
    mark(answer, call, outcome);
    return answer;
}

bool may_pass(const protected_call& call, const raw_outcome& outcome) {
    if (call.how->outage != store_outage::pass) return false;
    if (outcome.kind != outcome_kind::unavailable || !outcome.why) return false;
    // Named one by one: any other reason may also come from a store that is there, is only busy, or
    // has seen the work run.
    switch (outcome.why->code) {
    case errc::unavailable:
    case errc::timed_out:
    case errc::read_only:
    case errc::no_space: return true;
    default: return false;
    }
}

} // namespace semel::http
