// A process of the chain: started, killed at any moment, started again with the same arguments.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace semel::e2e {

// Started and ended by one thread: a child goes when the thread that started it does.
class child {
public:
    // What it says, on either stream, is added to the log.
    child(std::string name, std::vector<std::string> arguments, std::string log)
        : name_(std::move(name)), arguments_(std::move(arguments)), log_(std::move(log)) {}
    child(child&& other) noexcept
        : name_(std::move(other.name_)),
          arguments_(std::move(other.arguments_)),
          log_(std::move(other.log_)),
          id_(std::exchange(other.id_, -1)) {}
    child& operator=(child&&) = delete;
    ~child() { end(SIGKILL); }

    [[nodiscard]] const std::string& name() const { return name_; }

    void start() {
        std::vector<char*> raw;
        for (std::string& one : arguments_) raw.push_back(one.data());
        raw.push_back(nullptr);
        id_ = ::fork();
        if (id_ < 0) throw std::runtime_error("cannot start " + name_);
        if (id_ > 0) return;
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int log = ::open(log_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        ::dup2(log, STDOUT_FILENO);
        ::dup2(log, STDERR_FILENO);
        ::execv(raw[0], raw.data());
        ::_exit(127);
    }

    // As a crash would. False: it had ended before, by itself.
    bool kill() { return end(SIGKILL) == -SIGKILL; }
    // The exit code, or a signal below zero.
    int stop() { return end(SIGTERM); }

private:
    int end(int signal) {
        if (id_ <= 0) return 0;
        ::kill(id_, signal);
        int status = 0;
        ::waitpid(std::exchange(id_, -1), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }

    std::string name_;
    std::vector<std::string> arguments_;
    std::string log_;
    pid_t id_ = -1;
};

} // namespace semel::e2e
