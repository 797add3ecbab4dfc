#include "base/process_random.hpp"

#include <pthread.h>

#include <atomic>
#include <optional>
#include <random>

#include "semel/assert.hpp"

namespace semel {

namespace {

std::atomic<std::uint64_t> generation = 0; // a forked child is of the next

void begin_generation() {
    ++generation;
}

// Machines that start alike must not draw alike.
std::mt19937_64 seeded() {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(),
                       device(), device(), device(), device()};
    return std::mt19937_64{seed};
}

struct generator {
    std::uint64_t of = 0;
    std::optional<std::mt19937_64> it = {};
};

} // namespace

std::uint64_t process_random() {
    static const int watched = pthread_atfork(nullptr, nullptr, begin_generation);
    SEMEL_ASSERT(watched == 0);
    thread_local generator mine;
    const std::uint64_t now = generation.load(std::memory_order_relaxed);
    if (!mine.it || mine.of != now) mine = {.of = now, .it = seeded()};
    return (*mine.it)();
}

} // namespace semel
