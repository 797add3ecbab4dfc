// What can be asked of a store about one record, and what it can answer. Domain outcomes are
// values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "semel/core/record.hpp"

namespace semel {

namespace commands {

// Claims the record for one attempt. Answers: started, or why no attempt may start now: replay,
// in_progress, mismatch, failed, in_doubt. Only started writes.
struct begin {
    std::optional<fingerprint> content = {}; // none: not compared
    owner_id owner = {};
    duration lease = {};
    record_policy policy = {};
    on_mismatch mismatch = on_mismatch::refuse;
    std::string attributes = {};
};

// The attempt has succeeded: stores its result, which answers repeats until `retention` is over.
// Answers: stored (also if the same attempt has completed before), fenced_off.
struct complete {
    claim by = {};
    stored_result result = {};
    duration retention = {};
};

enum class failure_kind : std::uint8_t { retryable, final };

// The attempt has failed. A retryable failure lets the same request run again after `retry_after`;
// a final one answers its repeats. Answers: stored, fenced_off.
struct fail {
    claim by = {};
    failure_kind kind = failure_kind::retryable;
    std::string error = {};
    duration retry_after = {}; // from now; retryable only
    duration retention = {};
};

// The work did nothing that counts: forgets the attempt. Answers: stored, fenced_off.
struct release {
    claim by = {};
    // For an attempt that was never run: the record that its begin has replaced (see
    // answers::started). The stored record becomes that one again, under the attempt's own claim.
    // If it is null, or if the attempt has stored a checkpoint, the record is absent afterwards.
    std::shared_ptr<const record> replaced = {};
};

// The work's outcome is unknown: lets the policy decide at once instead of after the lease.
// Answers: stored, fenced_off.
struct abandon {
    claim by = {};
};

// Prolongs the lease of a running attempt, from now. Answers: renewed, not_renewed (past
// processing_max), fenced_off.
struct renew {
    claim by = {};
    duration lease = {};
};

// Keeps the result of a named step with a running record. The first data under a name stays.
// Answers: stored, over_limit, fenced_off.
struct checkpoint {
    claim by = {};
    semel::checkpoint step = {};
};

// A reconciler's or an operator's decision about a lapsed record, or a correction of such a
// decision: each draws a fence of its own, so the fence says which one is meant. Audited. Answers:
// resolved with the new fence, in_progress before the record has lapsed, fenced_off if another
// attempt or verdict came first.
struct resolve {
    // The effect took place: repeats get this result.
    struct committed {
        sealed_result result = {};
    };
    // It did not, and will not: the next repeat runs the work.
    struct not_executed {};
    // It did not, and repeats get this error.
    struct failed {
        std::string error = {};
    };

    std::uint64_t expected_fence = 0;
    std::variant<committed, not_executed, failed> verdict = not_executed{};
    duration retention = {};
    std::string actor = {};
    std::string reason = {};
};

// An operator removes the record, whatever its state. Audited. Answers: removed, kept.
struct remove {
    std::string actor = {};
    std::string reason = {};
};

// The sweeper removes the record if it has expired, or if its client has not come back within
// processing_max and the next caller would run the work anyway. Answers: removed, kept.
struct purge {};

// Reads the record and changes nothing. Answer: found.
struct lookup {};

} // namespace commands

using command =
    std::variant<commands::begin, commands::complete, commands::fail, commands::release,
                 commands::abandon, commands::renew, commands::checkpoint, commands::resolve,
                 commands::remove, commands::purge, commands::lookup>;

[[nodiscard]] std::string_view name(const command& what);

namespace answers {

// Why an attempt may start: there was no record, its work failed in a way that may be retried, its
// lease has lapsed, or the begin overwrites.
enum class start_kind : std::uint8_t { first, retried, taken_over, overwritten };

// The attempt may run the work until lease_until, and proves itself with `by` from here on.
struct started {
    claim by = {};
    start_kind kind = start_kind::first;
    std::uint32_t attempt = 0;
    time_point lease_until = {};
    std::optional<fingerprint> content = {}; // what the record is now compared with
    std::vector<checkpoint> checkpoints = {};
    // The record as it was before a retry, take-over or overwriting start; only for a release.
    std::shared_ptr<const record> replaced = {};
};

// The request was executed before: its result, and the fence of the attempt that made it.
struct replay {
    stored_result result = {};
    std::uint64_t fence = 0;
    time_point expires_at = {};
};

// An attempt is running, or the record may not be retried yet. `holder` lets a caller whose begin
// was in doubt recognise its own claim.
struct in_progress {
    time_point retry_at = {};
    claim holder = {};
    std::uint32_t attempt = 0;
};

// The key belongs to a request with this fingerprint.
struct mismatch {
    fingerprint stored;
};

// The request has failed, and may not run again under this record.
struct failed {
    record_state state = record_state::failed_final; // retryable: the attempts are used up
    std::string error = {};
    std::uint32_t attempts = 0;
    time_point expires_at = {};
};

// Processing, lapsed, and not to be run again automatically.
struct in_doubt {
    std::uint64_t fence = 0;
    time_point since = {};
};

// complete, fail, release, abandon, checkpoint: done (or done before by the same attempt).
struct stored {
    time_point expires_at = {};
};

// The lease is longer now.
struct renewed {
    time_point lease_until = {};
};

// Past processing_max: this attempt may not be kept alive any longer.
struct not_renewed {};

// A checkpoint too many.
struct over_limit {};

// The record belongs to another claim by now, or is gone. The caller drops its own result and
// adopts `current`.
struct fenced_off {
    std::optional<record> current = {};
};

// The verdict is stored, and this is its fence.
struct resolved {
    std::uint64_t fence = 0;
};

// The record was there, and is gone.
struct removed {};

// remove, purge: there is no record, or it must not be removed.
struct kept {};

// The record as it is, or none.
struct found {
    std::optional<record> current = {};
};

} // namespace answers

using answer =
    std::variant<answers::started, answers::replay, answers::in_progress, answers::mismatch,
                 answers::failed, answers::in_doubt, answers::stored, answers::renewed,
                 answers::not_renewed, answers::over_limit, answers::fenced_off, answers::resolved,
                 answers::removed, answers::kept, answers::found>;

[[nodiscard]] std::string_view name(const answer& what);

// Every answer carries the store's own time, read in the same atomic step.
struct reply {
    answer said;
    time_point now = {};
};

} // namespace semel
