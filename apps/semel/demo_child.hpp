// A second instance of the service: this very program, run once more, so that it can be killed or
// paused like any process.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

namespace semel::app::demo {

class child_process {
public:
    explicit child_process(const std::vector<std::string>& arguments);
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    ~child_process(); // kills it if it still runs

    // A line from its standard output. Throws if it ends, or says nothing for half a minute.
    [[nodiscard]] std::string read_line();
    // To its standard input.
    void write_line(std::string_view line);

    void kill();   // SIGKILL; returns when it is gone
    void pause();  // SIGSTOP; returns when it stands still
    void resume(); // SIGCONT

private:
    pid_t id_ = -1;
    int channel_ = -1; // our end; theirs is standard input and output
    std::string unread_;
};

} // namespace semel::app::demo
