// Memory for objects that come and go once per call.
#pragma once

#include <cstddef>
#include <new>
#include <utility>

namespace semel {

// An allocator that keeps the last freed block of a type on each thread for the next object: an
// attempt is larger than what malloc keeps at hand, so every call would go through its slow path
// and meet cold memory.
template <class T> struct recycled {
    using value_type = T;

    recycled() = default;
    template <class U> recycled(const recycled<U>&) noexcept {}

    T* allocate(std::size_t count) {
        if (count == 1 && kept_.block != nullptr) {
            return static_cast<T*>(std::exchange(kept_.block, nullptr));
        }
        return static_cast<T*>(::operator new(count * sizeof(T)));
    }

    void deallocate(T* block, std::size_t count) noexcept {
        if (keeps_blocks && count == 1 && kept_.block == nullptr && !kept_.thread_ends) {
            kept_.block = block;
        } else {
            ::operator delete(block);
        }
    }

    friend bool operator==(const recycled&, const recycled&) { return true; }

private:
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    // A sanitizer must see every object end.
    static constexpr bool keeps_blocks = false;
#else
    static constexpr bool keeps_blocks = true;
#endif

    struct keeper {
        void* block = nullptr;
        bool thread_ends = false;
        ~keeper() {
            thread_ends = true;
            ::operator delete(std::exchange(block, nullptr));
        }
    };
    static inline thread_local keeper kept_;
};

} // namespace semel
