// Errors as values: every call that can fail because of a machine, a store or input returns one.
//
// Three kinds of "no" are never mixed in semel. Domain outcomes (replay, mismatch, in progress …)
// are ordinary values. Operating errors are the `failure` below. Broken invariants are
// SEMEL_ASSERT.
#pragma once

#include <functional>
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

template <class T> class result;

namespace detail {

template <class T> inline constexpr bool is_result = false;
template <class T> inline constexpr bool is_result<result<T>> = true;

// The result of and_then(): what the function returns, which must be a result.
template <class F, class... Args>
using chained = std::remove_cvref_t<std::invoke_result_t<F, Args...>>;

// result<U> of what `make` returns, also if that is void.
template <class F, class... Args> auto wrapped(F&& make, Args&&... args) {
    using made = std::remove_cvref_t<std::invoke_result_t<F, Args...>>;
    if constexpr (std::is_void_v<made>) {
        std::invoke(std::forward<F>(make), std::forward<Args>(args)...);
        return result<made>{};
    } else {
        return result<made>{std::invoke(std::forward<F>(make), std::forward<Args>(args)...)};
    }
}

} // namespace detail

// A value or a failure, with std::expected's member names. Not an alias of it: a C++20 library and
// a C++23 consumer would then disagree about the ABI.
//
// A plain value: copy and move it like T; use one object from one thread at a time. Taking the
// value of a failure by `*` or `->`, or the error of a value, is a broken invariant and ends the
// process. Only value() throws.
template <class T> class [[nodiscard]] result {
public:
    using value_type = T;

    result(const T& value) : state_(std::in_place_index<0>, value) {}
    result(T&& value) : state_(std::in_place_index<0>, std::move(value)) {}
    result(failure why) : state_(std::in_place_index<1>, std::move(why)) {}

    [[nodiscard]] bool has_value() const noexcept { return state_.index() == 0; }
    explicit operator bool() const noexcept { return has_value(); }

    // Precondition: has_value().
    T& operator*() & { return *held(); }
    const T& operator*() const& { return *held(); }
    T&& operator*() && { return std::move(*held()); }
    T* operator->() { return held(); }
    const T* operator->() const { return held(); }

    // Precondition: !has_value().
    [[nodiscard]] const failure& error() const& {
        SEMEL_ASSERT(!has_value());
        return *std::get_if<1>(&state_);
    }
    [[nodiscard]] failure&& error() && {
        SEMEL_ASSERT(!has_value());
        return std::move(*std::get_if<1>(&state_));
    }

    // Throws failure_error if there is no value.
    T& value() & { return check(), **this; }
    const T& value() const& { return check(), **this; }
    T&& value() && { return check(), *std::move(*this); }

    // The value, or `other` if there is none.
    template <class U> [[nodiscard]] T value_or(U&& other) const& {
        return has_value() ? **this : static_cast<T>(std::forward<U>(other));
    }
    template <class U> [[nodiscard]] T value_or(U&& other) && {
        return has_value() ? *std::move(*this) : static_cast<T>(std::forward<U>(other));
    }

    // Calls `next`, which returns a result, with the value. A failure is passed on, and `next` is
    // not called.
    template <class F> auto and_then(F&& next) const& -> detail::chained<F, const T&> {
        static_assert(detail::is_result<detail::chained<F, const T&>>, "return a semel::result");
        if (!has_value()) return error();
        return std::invoke(std::forward<F>(next), **this);
    }
    template <class F> auto and_then(F&& next) && -> detail::chained<F, T&&> {
        static_assert(detail::is_result<detail::chained<F, T&&>>, "return a semel::result");
        if (!has_value()) return std::move(*this).error();
        return std::invoke(std::forward<F>(next), *std::move(*this));
    }

    // The same with a function that cannot fail: the result has what `make` returns.
    template <class F> auto transform(F&& make) const& {
        using made = decltype(detail::wrapped(std::forward<F>(make), **this));
        return has_value() ? detail::wrapped(std::forward<F>(make), **this) : made{error()};
    }
    template <class F> auto transform(F&& make) && {
        using made = decltype(detail::wrapped(std::forward<F>(make), *std::move(*this)));
        if (!has_value()) return made{std::move(*this).error()};
        return detail::wrapped(std::forward<F>(make), *std::move(*this));
    }

private:
    T* held() {
        SEMEL_ASSERT(has_value());
        return std::get_if<0>(&state_);
    }
    const T* held() const {
        SEMEL_ASSERT(has_value());
        return std::get_if<0>(&state_);
    }
    void check() const {
        if (!has_value()) throw_failure(error());
    }

    std::variant<T, failure> state_;
};

// Success, or a failure.
template <> class [[nodiscard]] result<void> {
public:
    using value_type = void;

    result() = default;
    result(failure why) : why_(std::move(why)) {}

    [[nodiscard]] bool has_value() const noexcept { return !why_.has_value(); }
    explicit operator bool() const noexcept { return has_value(); }
    // Precondition: !has_value().
    [[nodiscard]] const failure& error() const& {
        SEMEL_ASSERT(!has_value());
        return *why_;
    }
    [[nodiscard]] failure&& error() && {
        SEMEL_ASSERT(!has_value());
        return std::move(*why_);
    }
    // Throws failure_error if the call failed.
    void value() const {
        if (why_) throw_failure(*why_);
    }

    // As above; the functions take no argument.
    template <class F> auto and_then(F&& next) const -> detail::chained<F> {
        static_assert(detail::is_result<detail::chained<F>>, "return a semel::result");
        if (!has_value()) return error();
        return std::invoke(std::forward<F>(next));
    }
    template <class F> auto transform(F&& make) const {
        using made = decltype(detail::wrapped(std::forward<F>(make)));
        return has_value() ? detail::wrapped(std::forward<F>(make)) : made{error()};
    }

private:
    std::optional<failure> why_;
};

} // namespace semel
