// One request to be executed once. Owns its strings.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "semel/base/result.hpp"
#include "semel/core/command.hpp"
#include "semel/core/policy.hpp"
#include "semel/core/record.hpp"
#include "semel/engine/verdict.hpp"
#include "semel/fingerprint.hpp"

namespace semel {

// What one request sets differently from its operation's policy.
struct overrides {
    std::optional<duration> lease = {};
    std::optional<duration> retention = {};
    std::optional<wait_mode> wait = {};
    std::optional<duration> wait_max = {};
    std::string attributes = {}; // small JSON of the domain's own, kept with the record
};

// One request that is to take effect once. Tenant, operation and key are its identity: bytes, not
// trimmed and compared with case. The engine refuses names that are empty or over a limit.
struct request {
    std::string tenant = {};
    std::string operation = {};
    std::string key = {};                    // empty with content: derived from the digest
    std::optional<fingerprint> content = {}; // none: repeats are not compared
    overrides with = {};
};

// A request that engine::start() has taken. Thread-safe; dropping it changes nothing.
class pending_call {
public:
    virtual ~pending_call() = default;
    // Stops waiting for another caller's result: the call ends as `in_progress`. Has no effect on
    // work that has begun: the work runs on, and its result is stored.
    virtual void cancel() = 0;
};

enum class outcome_kind : std::uint8_t {
    executed,    // this call ran the work, and the store has acknowledged the result
    replayed,    // answered from the record
    in_progress, // another caller is running the work; see retry_after()
    mismatch,    // the key was used with other content
    failed,      // a stored failure, or this call's own; see error()
    in_doubt,    // it is not known whether the effect took place; an operator or probe decides
    unconfirmed, // the work is done, but not acknowledged yet; the engine keeps trying
    unavailable, // the store could not be asked, or answered unreadable bytes; see why()
};

[[nodiscard]] std::string_view name(outcome_kind kind);

// An outcome without its type, as the engine uses it. `result` is set for executed and replayed.
struct raw_outcome {
    outcome_kind kind = outcome_kind::unavailable;
    stored_result result = {};
    std::string error = {};
    duration retry_after = {};
    claim by = {};
    std::uint32_t attempt = 0;
    std::optional<time_point> expires_at = {};
    std::optional<fingerprint> held = {}; // mismatch only: what the record was begun with
    std::exception_ptr thrown = {};       // the work's own exception
    std::optional<failure> why = {};
};

// A request under a key that belongs to another request.
struct mismatch_seen {
    record_id id = {};
    fingerprint held;  // what the record was begun with
    fingerprint asked; // what came now
};

// Thrown by outcome::value() if there is no value. `kind()` says why.
class outcome_error : public std::runtime_error {
public:
    outcome_error(outcome_kind kind, const std::string& message)
        : std::runtime_error(message), kind_(kind) {}
    [[nodiscard]] outcome_kind kind() const noexcept { return kind_; }

private:
    outcome_kind kind_;
};
// One class for each kind of outcome that has no value, for callers who prefer exceptions. They
// have the message of the outcome and no state of their own.
struct mismatch_error : outcome_error {
    using outcome_error::outcome_error;
};
struct in_progress_error : outcome_error {
    using outcome_error::outcome_error;
};
struct failed_error : outcome_error {
    using outcome_error::outcome_error;
};
struct in_doubt_error : outcome_error {
    using outcome_error::outcome_error;
};
struct unconfirmed_error : outcome_error {
    using outcome_error::outcome_error;
};
struct unavailable_error : outcome_error {
    using outcome_error::outcome_error;
};
// The effect is remembered, its body was not kept: it was over the limit or could not be encoded.
struct tombstone_error : outcome_error {
    using outcome_error::outcome_error;
};

// Rethrows the work's own exception if there is one, else throws the error of that kind.
[[noreturn]] void throw_outcome(const raw_outcome& raw);

// What came of one request: its value, if there is one, and how the engine came by it. A plain
// value that owns all it shows; use one object from one thread at a time. T may be move-only, or
// void: `outcome<void>` holds `nothing`.
template <class T> class [[nodiscard]] outcome {
public:
    using value_type = std::conditional_t<std::is_void_v<T>, nothing, T>;

    outcome(raw_outcome&& raw, std::optional<value_type>&& value)
        : raw_(std::move(raw)), value_(std::move(value)) {}

    [[nodiscard]] outcome_kind kind() const noexcept { return raw_.kind; }
    [[nodiscard]] bool executed() const noexcept { return kind() == outcome_kind::executed; }
    [[nodiscard]] bool replayed() const noexcept { return kind() == outcome_kind::replayed; }
    [[nodiscard]] bool in_progress() const noexcept { return kind() == outcome_kind::in_progress; }

    // A value, or a business "no"?
    [[nodiscard]] bool rejected() const noexcept {
        return (executed() || replayed()) && raw_.result.kind == result_kind::rejection;
    }
    // False for all kinds but executed and replayed, and for a result that was not kept.
    [[nodiscard]] bool has_value() const noexcept { return value_.has_value(); }

    // Throws the error of `kind()` if there is no value: mismatch_error, in_progress_error …
    value_type& value() & { return check(), *value_; }
    const value_type& value() const& { return check(), *value_; }
    value_type&& value() && { return check(), *std::move(value_); }

    // What the work gave to set_result_ref(), also if a repeat asks. Empty: nothing.
    [[nodiscard]] const std::string& result_ref() const noexcept { return raw_.result.ref; }
    // Of `failed`: the stored text.
    [[nodiscard]] const std::string& error() const noexcept { return raw_.error; }
    // Of `in_progress` and `failed`: when it makes sense to ask again, from now.
    [[nodiscard]] duration retry_after() const noexcept { return raw_.retry_after; }
    // The attempt that made the answer, or that is running.
    [[nodiscard]] std::uint64_t fence() const noexcept { return raw_.by.fence; }
    [[nodiscard]] std::uint32_t attempt() const noexcept { return raw_.attempt; }
    // Of `unavailable` and `unconfirmed`: what failed, and whether it may have been applied.
    [[nodiscard]] const std::optional<failure>& why() const noexcept { return raw_.why; }
    [[nodiscard]] const raw_outcome& raw() const noexcept { return raw_; }

    // Calls the first of the callables that takes (value) or, without a value, (outcome).
    template <class OnValue, class OnOther> auto visit(OnValue on_value, OnOther on_other) const& {
        using answer_type = decltype(on_value(*value_));
        return value_ ? on_value(*value_) : static_cast<answer_type>(on_other(*this));
    }

private:
    void check() const {
        if (!value_) throw_outcome(raw_);
    }

    raw_outcome raw_;
    std::optional<value_type> value_;
};

// What came of one message.
enum class consumed : std::uint8_t { executed, duplicate, in_progress, failed, unavailable };

} // namespace semel
