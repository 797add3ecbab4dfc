// What work returns if a plain value is not enough.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "semel/time.hpp"

namespace semel {

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

inline retry_later_verdict retry_later(std::string error, duration delay = {}) {
    return {.error = std::move(error), .delay = delay};
}

inline unknown_verdict unknown() {
    return {};
}

} // namespace semel
