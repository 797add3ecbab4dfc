// From an answer to its record, and from the record to an answer.
#include <utility>

#include "grpc/metadata.hpp"
#include "http/own_outcome.hpp"
#include "http/text.hpp"
#include "semel/engine/verdict.hpp"
#include "semel/grpc.hpp"

namespace semel::grpc {
namespace {

using http::disposition;
using http::problem_kind;

// The error text of a failed record; answer_for finds the code in it again.
constexpr std::string_view error_prefix = "grpc ";

std::string error_text(const ::grpc::Status& status) {
    std::string text{error_prefix};
    text.append(std::to_string(status.error_code())).append(" ").append(status.error_message());
    return text;
}

std::optional<int> code_in(std::string_view error) {
    if (!error.starts_with(error_prefix)) return std::nullopt;
    error.remove_prefix(error_prefix.size());
    const auto code = http::to_number(error.substr(0, error.find(' ')));
    if (!code || *code == 0 || *code > ::grpc::StatusCode::UNAUTHENTICATED) return std::nullopt;
    return static_cast<int>(*code);
}

http::problem unavailable_problem(const raw_outcome& outcome, duration retry_after) {
    const errc why = outcome.why ? outcome.why->code : errc::unavailable;
    if (why == errc::corrupt) return {.kind = problem_kind::result_unreadable};
    // Coming again does not help against what is wrong with the request or the configuration.
    if (why == errc::invalid_argument || why == errc::limit_exceeded) {
        return {.kind = problem_kind::unavailable, .status = ::grpc::StatusCode::INTERNAL};
    }
    return {.kind = problem_kind::unavailable, .retry_after = retry_after};
}

http::problem problem_of(const raw_outcome& outcome, duration retry_after) {
    switch (outcome.kind) {
    case outcome_kind::in_progress:
        return {.kind = problem_kind::in_progress, .retry_after = outcome.retry_after};
    case outcome_kind::mismatch: return {.kind = problem_kind::mismatch};
    case outcome_kind::in_doubt: return {.kind = problem_kind::in_doubt};
    case outcome_kind::failed:
        return {.kind = problem_kind::failed,
                .status = code_in(outcome.error),
                .attempts = outcome.attempt};
    case outcome_kind::unconfirmed:
        return {.kind = problem_kind::unconfirmed, .retry_after = retry_after};
    case outcome_kind::executed:
    case outcome_kind::replayed: return {.kind = problem_kind::result_not_kept};
    case outcome_kind::unavailable: break;
    }
    return unavailable_problem(outcome, retry_after);
}

answer from_record(outcome<answer>&& known) {
    answer made = std::move(known).value();
    const auto unfit = [](const http::header& line) { return !may_be_sent(line); };
    made.initial.remove_if(unfit);
    made.trailing.remove_if(unfit);
    return made;
}

// What the caller's own attempt has put into its context is there already.
answer own_answer(answer&& got) {
    got.initial = {};
    got.trailing = {};
    return std::move(got);
}

answer unmarked(const guard_options& rules, outcome<answer>&& of, std::optional<answer>&& own) {
    if (of.executed() && of.has_value()) return own_answer(std::move(of).value());
    if (own && http::is_own(of.raw())) return own_answer(*std::move(own));
    if (of.replayed() && of.has_value()) return from_record(std::move(of));
    return {.status = to_status(problem_of(of.raw(), rules.retry_after), rules)};
}

} // namespace

http::disposition dispose(::grpc::StatusCode code) {
    using ::grpc::StatusCode;
    switch (code) {
    case StatusCode::OK: return disposition::keep;
    case StatusCode::INVALID_ARGUMENT:
    case StatusCode::NOT_FOUND:
    case StatusCode::ALREADY_EXISTS:
    case StatusCode::PERMISSION_DENIED:
    case StatusCode::UNAUTHENTICATED:
    case StatusCode::FAILED_PRECONDITION:
    case StatusCode::OUT_OF_RANGE:
    case StatusCode::UNIMPLEMENTED: return disposition::release;
    case StatusCode::CANCELLED:
    case StatusCode::DEADLINE_EXCEEDED: return disposition::unknown;
    default: return disposition::retry;
    }
}

http::disposition dispose(const std::vector<code_rule>& rules, ::grpc::StatusCode code) {
    for (const code_rule& one : rules) {
        if (one.code == code) return one.becomes;
    }
    return dispose(code);
}

verdict<answer> judge(const protected_call& call, answer&& got, std::optional<answer>& own) {
    const auto becomes = dispose(call.how->how.codes, got.status.error_code());
    const bool kept = becomes == disposition::keep || becomes == disposition::reject;
    if (kept && got.status.ok() && becomes == disposition::keep) return accept(std::move(got));
    if (kept) return reject(std::move(got));
    own = std::move(got);
    if (becomes == disposition::release) throw released{};
    if (becomes == disposition::unknown) return unknown();
    return retry_later(error_text(own->status));
}

answer answer_for(const guard_options& rules, outcome<answer>&& outcome,
                  std::optional<answer> own) {
    const bool replayed = outcome.replayed();
    const auto expires_at = outcome.raw().expires_at;
    answer made = unmarked(rules, std::move(outcome), std::move(own));
    if (replayed) made.trailing.add("idempotent-replayed", "true");
    if (expires_at) made.trailing.add("idempotency-expires", http::http_date(*expires_at));
    return made;
}

} // namespace semel::grpc
