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

// Claim the record for one attempt.
struct begin {
    std::optional<fingerprint> content = {}; // none: not compared
    owner_id owner = {};
    duration lease = {};
    record_policy policy = {};
    on_mismatch mismatch = on_mismatch::refuse;
    std::string attributes = {};
};

struct complete {
    claim by = {};
    stored_result result = {};
    duration retention = {};
};

enum class failure_kind : std::uint8_t { retryable, final };

struct fail {
    claim by = {};
    failure_kind kind = failure_kind::retryable;
    std::string error = {};
    duration retry_after = {}; // from now; retryable only
    duration retention = {};
};

// The work did nothing: forget the attempt.
struct release {
    claim by = {};
    // For an attempt that was never run: the record that its begin has replaced (see
    // answers::started). The stored record becomes that one again, under the attempt's own claim.
    // If it is null, or if the attempt has stored a checkpoint, the record is absent afterwards.
    std::shared_ptr<const record> replaced = {};
};

// The work's outcome is unknown: let the policy decide at once instead of after the lease.
struct abandon {
    claim by = {};
};

struct renew {
    claim by = {};
    duration lease = {};
};

struct checkpoint {
    claim by = {};
    semel::checkpoint step = {};
};

// A reconciler's or an operator's decision about a lapsed record, or a correction of such a
// decision: each draws a fence of its own, so the fence says which one is meant. Audited.
struct resolve {
    struct committed {
        sealed_result result = {};
    };
    struct not_executed {};
    struct failed {
        std::string error = {};
    };

    std::uint64_t expected_fence = 0;
    std::variant<committed, not_executed, failed> verdict = not_executed{};
    duration retention = {};
    std::string actor = {};
    std::string reason = {};
};

// An operator removes the record, whatever its state. Audited.
struct remove {
    std::string actor = {};
    std::string reason = {};
};

// The sweeper removes the record if it has expired, or if its client has not come back within
// processing_max and the next caller would run the work anyway.
struct purge {};

// Read only.
struct lookup {};

} // namespace commands

using command =
    std::variant<commands::begin, commands::complete, commands::fail, commands::release,
                 commands::abandon, commands::renew, commands::checkpoint, commands::resolve,
                 commands::remove, commands::purge, commands::lookup>;

[[nodiscard]] std::string_view name(const command& what);

namespace answers {

enum class start_kind : std::uint8_t { first, retried, taken_over, overwritten };

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

struct mismatch {
    fingerprint stored;
};

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

struct resolved {
    std::uint64_t fence = 0;
};

struct removed {};

// remove, purge: there is no record, or it must not be removed.
struct kept {};

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
