// Errors as values: every call that can fail because of a machine, a store or input returns one.
//
// Three kinds of "no" are never mixed in semel. Domain outcomes (replay, mismatch, in progress …)
// are ordinary values. Operating errors are the `failure` below. Broken invariants are
// SEMEL_ASSERT.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace semel::detail {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
} // namespace semel::detail

// A broken invariant ends the process. The check is on in release builds too: a wrong record costs
// more than a restart, and every record survives a crash by design.
#define SEMEL_ASSERT(condition)                                                                    \
    (static_cast<bool>(condition)                                                                  \
         ? static_cast<void>(0)                                                                    \
         : ::semel::detail::assertion_failed(#condition, __FILE__, __LINE__))

namespace semel {

// Whether the failed call may have changed the store. After `unknown`, read first: never retry
// blindly.
enum class effect { none, unknown };

enum class errc {
    invalid_argument,   // the caller's input is wrong; nothing was sent
    limit_exceeded,     // over a limit of `limits`; nothing was sent
    unknown_store,      // no driver answers to that URL
    not_a_store,        // the target exists and is something else (a file that is not a database)
    schema_missing,     // the tables are not there: run `semel migrate`
    schema_newer,       // the tables were made by a newer semel
    read_only,          // the target cannot be written
    no_space,           // disk, memory bound or quota is used up
    overloaded,         // a bounded queue refused; counted
    unavailable,        // not reachable now; try again later
    timed_out,          // no answer by the deadline
    conflict,           // deadlock or serialisation failure: the transaction may be repeated
    corrupt,            // stored bytes fail their checksum or cannot be decoded
    unsupported,        // this driver or mode cannot do that
    stopped,            // the engine or store is shutting down
    transaction_broken, // the work itself ended or changed the transaction it ran in
    address_in_use,     // another process listens there
    internal,           // a native error without a better name; see detail
};

[[nodiscard]] std::string_view name(errc code);

struct failure {
    errc code;                      // branch on this
    effect possible = effect::none; // retry policy reads this
    std::string detail = {};        // for logs; never branched on, never sent to a client
};

// "unavailable (may have been applied): connection reset"
[[nodiscard]] std::string describe(const failure& why);

// What `.value()` of a failed result throws.
class failure_error : public std::runtime_error {
public:
    explicit failure_error(failure why);
    [[nodiscard]] const failure& why() const noexcept { return why_; }

private:
    failure why_;
};

[[noreturn]] void throw_failure(failure why);

// A value or a failure, with std::expected's member names. Not an alias of it: a C++20 library and
// a C++23 consumer would then disagree about the ABI.
template <class T> class [[nodiscard]] result {
public:
    using value_type = T;

    result(const T& value) : state_(std::in_place_index<0>, value) {}
    result(T&& value) : state_(std::in_place_index<0>, std::move(value)) {}
    result(failure why) : state_(std::in_place_index<1>, std::move(why)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    // Precondition: has_value().
    T& operator*() & { return *std::get_if<0>(&state_); }
    const T& operator*() const& { return *std::get_if<0>(&state_); }
    T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
    T* operator->() { return std::get_if<0>(&state_); }
    const T* operator->() const { return std::get_if<0>(&state_); }

    // Precondition: !has_value().
    [[nodiscard]] const failure& error() const& { return *std::get_if<1>(&state_); }
    [[nodiscard]] failure&& error() && { return std::move(*std::get_if<1>(&state_)); }

    // Throws failure_error if there is no value.
    T& value() & { return check(), **this; }
    const T& value() const& { return check(), **this; }
    T&& value() && { return check(), *std::move(*this); }

private:
    void check() const {
        if (!has_value()) throw_failure(error());
    }

    std::variant<T, failure> state_;
};

template <> class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() = default;
    result(failure why) : why_(std::move(why)) {}

    [[nodiscard]] bool has_value() const noexcept { return !why_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }
    [[nodiscard]] const failure& error() const& { return *why_; }
    [[nodiscard]] failure&& error() && { return std::move(*why_); }
    void value() const {
        if (why_) throw_failure(*why_);
    }

private:
    std::optional<failure> why_;
};

} // namespace semel
