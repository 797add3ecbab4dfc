// What work returns if a plain value is not enough, and how results become bytes.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "semel/base/time.hpp"
#include "semel/core/record.hpp"

namespace semel {

// If the work (or an adapter) throws this, the record is released, whatever the operation's policy
// says about exceptions. The key is then free, for another request, too.
class released : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "the result is not kept"; }
};

// The work did nothing that counts; the same request may run again after `delay`.
struct retry_later_verdict {
    std::string error;
    duration delay = {};
};

// The work cannot tell whether its effect took place: the operation's on_lease_expiry decides.
struct unknown_verdict {};

// A void answer, so that accept() and reject() have something to carry.
struct nothing {
    friend bool operator==(const nothing&, const nothing&) = default;
};

// `verdict<T>` is what work may return instead of `T`: accept, reject, retry_later or unknown.
template <class T> class [[nodiscard]] verdict {
public:
    struct accepted {
        T value;
    };
    struct rejected {
        T value;
    };
    using state = std::variant<accepted, rejected, retry_later_verdict, unknown_verdict>;

    verdict(accepted it) : state_(std::move(it)) {}
    verdict(rejected it) : state_(std::move(it)) {}
    verdict(retry_later_verdict it) : state_(std::move(it)) {}
    verdict(unknown_verdict it) : state_(it) {}
    verdict(T value) : state_(accepted{std::move(value)}) {}

    [[nodiscard]] state& get() { return state_; }

private:
    state state_;
};

template <> class [[nodiscard]] verdict<void> : public verdict<nothing> {
public:
    using verdict<nothing>::verdict;
    verdict(verdict<nothing> it) : verdict<nothing>(std::move(it)) {}
};

// The answer of the work. Returning the plain value means the same.
template <class T> verdict<T> accept(T value) {
    return typename verdict<T>::accepted{std::move(value)};
}
inline verdict<nothing> accept() {
    return verdict<nothing>::accepted{};
}

// A business "no": stored and replayed like an answer.
template <class T> verdict<T> reject(T value) {
    return typename verdict<T>::rejected{std::move(value)};
}
inline verdict<nothing> reject() {
    return verdict<nothing>::rejected{};
}

// The work did nothing that counts. The record keeps `error`; a repeat may run after `delay`.
inline retry_later_verdict retry_later(std::string error, duration delay = {}) {
    return {.error = std::move(error), .delay = delay};
}

// The work does not know whether its effect took place. The policy decides what a repeat does.
inline unknown_verdict unknown() {
    return {};
}

// The effect took place and has an answer. If no codec could write it, the result is a tombstone.
struct answered_end {
    stored_result result = {};
};
// The work threw: the operation's policy decides what becomes of the record.
struct threw_end {
    std::exception_ptr thrown = {};
};

// How a piece of work ended, without its type: for callers of engine::start().
using work_end = std::variant<answered_end, retry_later_verdict, unknown_verdict, threw_end>;

// How a result becomes bytes and back. Specialise `codec` for a type of your own:
//
//   template <> struct semel::codec<order> {
//       static constexpr std::string_view type = "application/x-order";
//       static std::string encode(const order&);      // may throw: the result becomes a tombstone
//       static order decode(std::string_view bytes);  // throws on bytes it cannot read
//   };
//
// semel/engine/json.hpp brings one for every type that nlohmann-json can convert.

template <class T> struct codec;

// Bytes as they are. Never fails.
template <> struct codec<std::string> {
    static constexpr std::string_view type = "text/plain";
    static std::string encode(const std::string& value) { return value; }
    static std::string decode(std::string_view bytes) { return std::string{bytes}; }
};

using bytes = std::vector<std::byte>;

template <> struct codec<bytes> {
    static constexpr std::string_view type = "application/octet-stream";
    static std::string encode(const bytes& value) {
        return {reinterpret_cast<const char*>(value.data()), value.size()};
    }
    static bytes decode(std::string_view from) {
        const auto* first = reinterpret_cast<const std::byte*>(from.data());
        return {first, first + from.size()};
    }
};

// Types that the engine can store as results.
template <class T>
concept has_codec = requires(const T& value, std::string_view from) {
    { codec<T>::encode(value) } -> std::convertible_to<std::string>;
    { codec<T>::decode(from) } -> std::convertible_to<T>;
    { codec<T>::type } -> std::convertible_to<std::string_view>;
};

} // namespace semel
