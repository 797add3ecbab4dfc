// How typed work becomes untyped for the engine. Not for direct use.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "semel/base/mutex.hpp"
#include "semel/core/record.hpp"
#include "semel/engine/execution.hpp"
#include "semel/engine/request.hpp"
#include "semel/engine/verdict.hpp"
#include "semel/transaction.hpp"

namespace semel::detail {

class work {
public:
    virtual ~work() = default;
    virtual work_end run(execution& run) = 0;
};

consumed as_consumed(outcome_kind kind);

// Encodes a value; what cannot be encoded becomes a tombstone, since its effect has taken place.
template <class T> stored_result encoded(const T& value, result_kind kind) {
    if constexpr (std::is_same_v<T, nothing>) {
        return {.kind = kind};
    } else {
        static_assert(has_codec<T>, "specialise semel::codec<T>, or include semel/engine/json.hpp");
        try {
            return {
                .kind = kind, .body = codec<T>::encode(value), .type = std::string{codec<T>::type}};
        } catch (...) {
            return {.kind = result_kind::tombstone, .type = std::string{codec<T>::type}};
        }
    }
}

template <class T> T decoded(const stored_result& result) {
    if constexpr (std::is_same_v<T, nothing>) {
        return {};
    } else {
        return codec<T>::decode(result.body);
    }
}

// The bytes are whole (their checksum holds) but the codec cannot read them.
raw_outcome undecodable(raw_outcome raw, std::string_view why);

// Calls the user's work and normalises what it returns to verdict<value_type>.
template <class T, class Work> auto called(Work& work, execution& run) {
    using value_type = typename outcome<T>::value_type;
    auto call = [&]() -> decltype(auto) {
        if constexpr (std::is_invocable_v<Work&, execution&>) {
            return work(run);
        } else {
            return work();
        }
    };
    using returned = decltype(call());
    if constexpr (std::is_void_v<returned>) {
        call();
        return verdict<value_type>{value_type{}};
    } else {
        return verdict<value_type>{call()};
    }
}

// Keeps the typed value of work that ended well, and gives typed outcomes back to the caller.
template <class T> class typed_end {
public:
    using value_type = typename outcome<T>::value_type;

    work_end ended(verdict<value_type> said) {
        using kind = verdict<value_type>;
        if (auto* yes = std::get_if<typename kind::accepted>(&said.get())) {
            return kept(std::move(yes->value), result_kind::value);
        }
        if (auto* no = std::get_if<typename kind::rejected>(&said.get())) {
            return kept(std::move(no->value), result_kind::rejection);
        }
        if (auto* later = std::get_if<retry_later_verdict>(&said.get())) return std::move(*later);
        return unknown_verdict{};
    }

    outcome<T> finish(raw_outcome&& raw) {
        if (raw.kind == outcome_kind::executed) return {std::move(raw), std::move(own_)};
        if (raw.kind != outcome_kind::replayed || raw.result.kind == result_kind::tombstone) {
            return {std::move(raw), std::nullopt};
        }
        try {
            return {std::move(raw), decoded<value_type>(raw.result)};
        } catch (const std::exception& why) {
            return {undecodable(std::move(raw), why.what()), std::nullopt};
        } catch (...) {
            return {undecodable(std::move(raw), "unknown exception"), std::nullopt};
        }
    }

private:
    work_end kept(value_type value, result_kind kind) {
        own_.emplace(std::move(value));
        return answered_end{encoded(*own_, kind)};
    }

    std::optional<value_type> own_;
};

template <class T, class Work> class typed_work final : public work, public typed_end<T> {
public:
    explicit typed_work(Work& user) : user_(user) {}

    work_end run(execution& run) override {
        try {
            return this->ended(called<T>(user_, run));
        } catch (...) {
            return threw_end{std::current_exception()};
        }
    }

    // The work ran on the caller's own thread: its exception goes on from here.
    outcome<T> finish(raw_outcome&& raw) {
        if (raw.thrown) std::rethrow_exception(raw.thrown);
        return typed_end<T>::finish(std::move(raw));
    }

private:
    Work& user_;
};

// ---- in a transaction ---------------------------------------------------------------------------

enum class transaction_owner : std::uint8_t { engine, caller }; // who commits

// The connection on which work runs: a postgres_connection&, an sqlite3* …
[[nodiscard]] void* connection_for_work(transaction& of);

template <class Handle> auto connection_of(Handle& handle) -> typename Handle::connection_type {
    using wanted = typename Handle::connection_type;
    void* const got = connection_for_work(handle);
    if constexpr (std::is_pointer_v<wanted>) {
        return static_cast<wanted>(got);
    } else {
        return *static_cast<std::remove_reference_t<wanted>*>(got);
    }
}

// Work and its handle. If the work takes the handle's connection, it gets the connection.
template <class Pointer, class Work> class connected_work {
public:
    connected_work(Pointer on, Work work) : on_(std::move(on)), work_(std::forward<Work>(work)) {}

    decltype(auto) operator()(execution& run) {
        if constexpr (requires { work_(run); }) {
            return work_(run);
        } else if constexpr (requires { work_(run, connection_of(*on_)); }) {
            return work_(run, connection_of(*on_));
        } else if constexpr (requires { work_(connection_of(*on_)); }) {
            return work_(connection_of(*on_));
        } else {
            return work_();
        }
    }

private:
    Pointer on_;
    Work work_; // may be a reference
};

// Cancelling what has not begun yet. Not for direct use.

// Connects a cancellation slot to an attempt that is made a moment later. Thread-safe.
class cancel_link {
public:
    void connect(std::shared_ptr<pending_call> attempt) {
        const detail::guard lock{mutex_};
        attempt_ = std::move(attempt);
        if (asked_ && attempt_) attempt_->cancel();
    }
    void cancel() {
        const detail::guard lock{mutex_};
        asked_ = true;
        if (attempt_) attempt_->cancel();
    }

private:
    detail::mutex mutex_;
    std::shared_ptr<pending_call> attempt_ SEMEL_GUARDED_BY(mutex_);
    bool asked_ SEMEL_GUARDED_BY(mutex_) = false;
};

} // namespace semel::detail
