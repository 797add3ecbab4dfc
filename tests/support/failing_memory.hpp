// Memory that runs out once, at a chosen allocation. It replaces the allocation of the whole
// program, so one file of a test program includes it.
#pragma once

#include <cstdlib>
#include <new>

#include "support/failing_allocation.hpp"

// Not inlined: g++ would see memory of the one kind given back as the other.
[[gnu::noinline]] void* operator new(std::size_t size) {
    int& failing = semel::testing_support::failing_allocation;
    if (failing > 0 && --failing == 0) throw std::bad_alloc{};
    if (void* const made = std::malloc(size == 0 ? 1 : size)) return made;
    throw std::bad_alloc{};
}

// The library's own would not be of the same kind as what gives it back.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
    return std::malloc(size == 0 ? 1 : size);
}

[[gnu::noinline]] void operator delete(void* it) noexcept {
    std::free(it);
}

[[gnu::noinline]] void operator delete(void* it, std::size_t) noexcept {
    std::free(it);
}
