// Stopping a process so that it neither answers nor closes its connections.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>

namespace semel::testing_support {

// As in /proc/…/stat: behind the name, which is in brackets and may hold anything.
inline char state_of(const std::filesystem::path& task) {
    std::ifstream from{task / "stat"};
    std::string line;
    std::getline(from, line);
    const std::size_t end = line.rfind(')');
    return end == std::string::npos || end + 2 >= line.size() ? 'X' : line[end + 2];
}

inline bool is_frozen(pid_t process) {
    std::error_code gone;
    const auto tasks = "/proc/" + std::to_string(process) + "/task";
    for (const auto& task : std::filesystem::directory_iterator{tasks, gone}) {
        const char state = state_of(task);
        if (state != 'T' && state != 'X' && state != 'Z') return false;
    }
    return true;
}

// The signal is only on its way when kill() returns: on a busy machine there is time for an answer.
inline void freeze(pid_t process) {
    ::kill(process, SIGSTOP);
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    while (!is_frozen(process)) {
        if (std::chrono::steady_clock::now() > patience) throw std::runtime_error("does not stop");
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

inline void thaw(pid_t process) {
    ::kill(process, SIGCONT);
}

} // namespace semel::testing_support
