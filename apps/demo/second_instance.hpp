// A second instance of the service: a process of its own, so that it can be killed or paused like
// any other.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>

namespace semel::demo {

class second_instance {
public:
    using pause = std::function<void()>;

    // Forks, so that it comes before the threads and open files of this process. The new process
    // stands still until it is resumed. Then it calls `serve`, which stands still again where it
    // calls its argument.
    explicit second_instance(const std::function<std::string(const pause&)>& serve);
    second_instance(const second_instance&) = delete;
    second_instance& operator=(const second_instance&) = delete;
    ~second_instance(); // kills the process if it still runs

    // Returns when the process stands still. Throws if it ends instead.
    void run_to_pause();
    // Returns what `serve` has returned. Throws if the process fails.
    [[nodiscard]] std::string run_to_end();
    void kill(); // SIGKILL; returns when the process is gone

private:
    struct shared_page;

    [[noreturn]] void run_as_child(const std::function<std::string(const pause&)>& serve) const;
    void wait_for_pause();
    [[noreturn]] void lose();

    shared_page* const page_;
    pid_t id_ = -1;
};

} // namespace semel::demo
