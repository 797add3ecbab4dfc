// A machine that sleeps: its boot-time clock goes on meanwhile, the clock that threads wait by
// stands still. Nothing here may depend on how long a thread has waited.
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <ctime>

#include "async_call.hpp"
#include "engine/strand.hpp"

namespace {

std::atomic<long> slept_seconds{0};

} // namespace

// In place of the C library's, for this program: what a resumed machine shows.
extern "C" int clock_gettime(clockid_t clock, timespec* at) noexcept {
    const auto done = static_cast<int>(::syscall(SYS_clock_gettime, clock, at));
    if (clock == CLOCK_BOOTTIME) at->tv_sec += slept_seconds.load();
    return done;
}

namespace semel::tests {
namespace {

void sleep_an_hour() {
    slept_seconds += 3600;
}

TEST(Suspended, ATimerIsNotLateByWhatTheMachineSlept) {
    const auto runtime = open_system_runtime();
    std::atomic<bool> fired = false;
    runtime->at(runtime->now() + 1h, [&] { fired = true; });
    std::this_thread::sleep_for(50ms); // its thread waits by now

    sleep_an_hour();

    EXPECT_TRUE(soon([&] { return fired.load(); }));
}

TEST(Suspended, ABlockingCallerIsNotLateEither) {
    strand one{strand::mode::served};
    std::atomic<bool> timed_out = false;
    std::thread caller{[&] { timed_out = !one.serve(local_clock::now() + 1h); }};
    std::this_thread::sleep_for(50ms);

    sleep_an_hour();

    EXPECT_TRUE(soon([&] { return timed_out.load(); }));
    one.post([] {}); // or it would wait for ever
    caller.join();
}

TEST(Suspended, WorkIsToldSoonThatItsLeaseIsOver) {
    engine one{open_memory_store(), {.lease = 30s}, {.log = null_logger()}};
    async_call call{one, order("k")};
    call.wait_started();
    std::this_thread::sleep_for(50ms);

    sleep_an_hour();

    EXPECT_TRUE(soon([&] { return call.stop().stop_requested(); }));
    call.end(answered_with("late"));
    (void)call.get();
}

} // namespace
} // namespace semel::tests
