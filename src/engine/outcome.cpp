#include "semel/engine/request.hpp"

#include "semel/engine/detail/work.hpp"
#include "semel/engine/execution.hpp"
#include "semel/fingerprint.hpp"

namespace semel {

std::string_view name(outcome_kind kind) {
    switch (kind) {
    case outcome_kind::executed: return "executed";
    case outcome_kind::replayed: return "replayed";
    case outcome_kind::in_progress: return "in_progress";
    case outcome_kind::mismatch: return "mismatch";
    case outcome_kind::failed: return "failed";
    case outcome_kind::in_doubt: return "in_doubt";
    case outcome_kind::unconfirmed: return "unconfirmed";
    case outcome_kind::unavailable: return "unavailable";
    }
    return "unknown";
}

void throw_outcome(const raw_outcome& raw) {
    if (raw.thrown) std::rethrow_exception(raw.thrown);
    switch (raw.kind) {
    case outcome_kind::executed:
    case outcome_kind::replayed:
        throw tombstone_error{raw.kind, "the effect took place; its result was not kept"};
    case outcome_kind::in_progress:
        throw in_progress_error{raw.kind, "another owner is working on this request"};
    case outcome_kind::mismatch:
        throw mismatch_error{raw.kind, "the key was used before with other content"};
    case outcome_kind::failed: throw failed_error{raw.kind, raw.error};
    case outcome_kind::in_doubt:
        throw in_doubt_error{raw.kind, "whether the effect took place is not known"};
    case outcome_kind::unconfirmed:
        throw unconfirmed_error{raw.kind, "the work is done; its result is not confirmed yet"};
    case outcome_kind::unavailable: break;
    }
    throw unavailable_error{raw.kind, raw.why ? describe(*raw.why) : "unavailable"};
}

void execution::set_result_ref(std::string ref) {
    const std::size_t bytes_max = limits{}.result_ref_bytes_max;
    if (ref.size() > bytes_max) {
        throw failure_error{{.code = errc::limit_exceeded,
                             .detail = "a result_ref has " + std::to_string(ref.size()) +
                                       " bytes; the limit is " + std::to_string(bytes_max)}};
    }
    port_.set_result_ref(std::move(ref));
}

std::string execution::child_key(std::string_view suffix) const {
    return derive(port_.id().key, suffix);
}

namespace detail {

consumed as_consumed(outcome_kind kind) {
    switch (kind) {
    case outcome_kind::executed: return consumed::executed;
    case outcome_kind::replayed: return consumed::duplicate;
    case outcome_kind::in_progress: return consumed::in_progress;
    case outcome_kind::mismatch:
    case outcome_kind::failed:
    case outcome_kind::in_doubt: return consumed::failed;
    case outcome_kind::unconfirmed:
    case outcome_kind::unavailable: break;
    }
    return consumed::unavailable;
}

raw_outcome undecodable(raw_outcome raw, std::string_view why) {
    raw.kind = outcome_kind::unavailable;
    raw.why = failure{.code = errc::corrupt,
                      .possible = effect::none,
                      .detail = "the stored result cannot be decoded: " + std::string{why}};
    return raw;
}

} // namespace detail

} // namespace semel
