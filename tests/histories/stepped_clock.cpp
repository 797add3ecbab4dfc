// A wall clock that a test sets. Preloaded into a process, this library adds the nanoseconds in the
// file SEMEL_CLOCK_FILE to the time of day. Clocks that count from the start of the machine stay as
// they are, as they do when an operator sets the time.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <ctime>

namespace {

constexpr std::int64_t second = 1'000'000'000;

// Null without such a file: then the time is the machine's.
const volatile std::int64_t* open_offset() {
    const char* const path = std::getenv("SEMEL_CLOCK_FILE");
    if (path == nullptr) return nullptr;
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return nullptr;
    void* const at = ::mmap(nullptr, sizeof(std::int64_t), PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    return at == MAP_FAILED ? nullptr : static_cast<const std::int64_t*>(at);
}

// Null as well for those that ask before this library has been set up.
const volatile std::int64_t* const offset = open_offset();

std::int64_t wall_clock() {
    timespec at{};
    ::syscall(SYS_clock_gettime, CLOCK_REALTIME, &at);
    return at.tv_sec * second + at.tv_nsec + (offset == nullptr ? 0 : *offset);
}

bool is_wall_clock(clockid_t which) {
    return which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE;
}

} // namespace

extern "C" {

int clock_gettime(clockid_t which, timespec* at) noexcept {
    if (!is_wall_clock(which)) {
        return static_cast<int>(::syscall(SYS_clock_gettime, which, at));
    }
    const std::int64_t now = wall_clock();
    *at = {.tv_sec = now / second, .tv_nsec = now % second};
    return 0;
}

int gettimeofday(timeval* at, void*) noexcept {
    const std::int64_t now = wall_clock();
    *at = {.tv_sec = now / second, .tv_usec = now % second / 1'000};
    return 0;
}

time_t time(time_t* at) noexcept {
    const time_t now = wall_clock() / second;
    if (at != nullptr) *at = now;
    return now;
}

} // extern "C"
