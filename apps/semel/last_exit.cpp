#include "last_exit.hpp"

#include <unistd.h>

#include <string_view>
#include <thread>

namespace semel::app {

// Destructors and locked streams may be what the process waits for, so neither is used.
void end_within(duration time) {
    std::thread{[time] {
        std::this_thread::sleep_for(time);
        constexpr std::string_view why =
            "semel: the drain time is over and a thread still works: the process ends without it\n";
        static_cast<void>(!::write(STDERR_FILENO, why.data(), why.size()));
        ::_exit(1);
    }}.detach();
}

} // namespace semel::app
