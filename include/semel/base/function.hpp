// A move-only callable with room for small captures. (g++ 12 has std::move_only_function in C++23
// only.)
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "semel/base/result.hpp"

namespace semel {

template <class Signature> class unique_function;

// Owns one callable of any type with this signature, and needs no heap memory for a callable of up
// to 56 bytes whose move cannot throw. Move-only, so that it can own what cannot be copied, such as
// a promise. Use one object from one thread at a time. Calling an empty one is a broken invariant.
// The callable's exceptions go to the caller; moving never throws.
template <class R, class... Args> class unique_function<R(Args...)> {
public:
    unique_function() = default;

    template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, unique_function> &&
             std::is_invocable_r_v<R, std::decay_t<F>&, Args...>) unique_function(F&& callable) {
        using target = std::decay_t<F>;
        if constexpr (fits<target>) {
            ::new (static_cast<void*>(&room_)) target(std::forward<F>(callable));
            kind_ = &inline_kind<target>;
        } else {
            ::new (static_cast<void*>(&room_)) target*(new target(std::forward<F>(callable)));
            kind_ = &heap_kind<target>;
        }
    }

    unique_function(unique_function&& other) noexcept { take(other); }
    unique_function& operator=(unique_function&& other) noexcept {
        if (this != &other) {
            reset();
            take(other);
        }
        return *this;
    }
    ~unique_function() { reset(); }

    // False: default-constructed, or moved from.
    explicit operator bool() const noexcept { return kind_ != nullptr; }

    R operator()(Args... args) {
        SEMEL_ASSERT(kind_ != nullptr);
        return kind_->call(&room_, std::forward<Args>(args)...);
    }

private:
    static constexpr std::size_t room_bytes = 56;

    struct kind {
        R (*call)(void*, Args&&...);
        void (*move)(void* from, void* to) noexcept;
        void (*destroy)(void*) noexcept;
    };

    template <class T>
    static constexpr bool
        fits = sizeof(T) <= room_bytes &&
               alignof(T) <= alignof(std::max_align_t) && std::is_nothrow_move_constructible_v<T>;

    template <class T>
    static constexpr kind inline_kind{[](void* at, Args&&... args) -> R {
                                          return (*static_cast<T*>(at))(
                                              std::forward<Args>(args)...);
                                      },
                                      [](void* from, void* to) noexcept {
                                          ::new (to) T(std::move(*static_cast<T*>(from)));
                                          static_cast<T*>(from)->~T();
                                      },
                                      [](void* at) noexcept { static_cast<T*>(at)->~T(); }};

    template <class T>
    static constexpr kind heap_kind{
        [](void* at, Args&&... args) -> R {
            return (**static_cast<T**>(at))(std::forward<Args>(args)...);
        },
        [](void* from, void* to) noexcept { ::new (to) T*(*static_cast<T**>(from)); },
        [](void* at) noexcept { delete *static_cast<T**>(at); }};

    void take(unique_function& other) noexcept {
        kind_ = std::exchange(other.kind_, nullptr);
        if (kind_ != nullptr) kind_->move(&other.room_, &room_);
    }
    void reset() noexcept {
        if (kind_ != nullptr) std::exchange(kind_, nullptr)->destroy(&room_);
    }

    const kind* kind_ = nullptr;
    alignas(std::max_align_t) std::byte room_[room_bytes];
};

} // namespace semel
