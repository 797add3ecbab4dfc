#include "base/process_random.hpp"

#include <optional>
#include <random>

#include "base/home_process.hpp"

namespace semel {

namespace {

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
    thread_local generator mine;
    const std::uint64_t now = fork_generation();
    if (!mine.it || mine.of != now) mine = {.of = now, .it = seeded()};
    return (*mine.it)();
}

} // namespace semel
