#include "base/home_process.hpp"

#include <pthread.h>

#include <atomic>
#include <string>

#include "semel/base/result.hpp"

namespace semel {

namespace {

std::atomic<std::uint64_t> generation = 0;

void begin_generation() {
    ++generation;
}

} // namespace

std::uint64_t fork_generation() {
    static const int watched = pthread_atfork(nullptr, nullptr, begin_generation);
    SEMEL_ASSERT(watched == 0);
    return generation.load(std::memory_order_relaxed);
}

failure opened_before_fork(std::string_view what) {
    return {.code = errc::unsupported,
            .possible = effect::none,
            .detail = std::string{what} +
                      " was opened before fork() and belongs to the parent process; open another "
                      "one in the child"};
}

} // namespace semel
