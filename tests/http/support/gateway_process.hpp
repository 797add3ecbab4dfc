// `semel gateway` as a process of its own.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <regex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace semel::edge::support {

// A running gateway; its first line says where it listens.
class gateway_process {
public:
    explicit gateway_process(std::vector<std::string> arguments) {
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
        arguments.insert(arguments.begin(), {SEMEL_BINARY_DIR "/semel", "gateway"});
        std::vector<char*> raw;
        for (std::string& one : arguments) raw.push_back(one.data());
        raw.push_back(nullptr);
        id_ = fork();
        if (id_ == 0) {
            dup2(ends[1], STDOUT_FILENO);
            execv(raw[0], raw.data());
            _exit(127);
        }
        close(ends[1]);
        out_ = ends[0];
        read_port();
    }
    ~gateway_process() {
        if (id_ > 0) {
            kill(id_, SIGKILL);
            waitpid(id_, nullptr, 0);
        }
        close(out_);
    }
    gateway_process(const gateway_process&) = delete;
    gateway_process& operator=(const gateway_process&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] const std::string& said() const { return said_; }
    [[nodiscard]] pid_t id() const { return id_; }
    void signal(int which) const { kill(id_, which); }
    // The exit code; -1: it was killed.
    int wait() {
        int status = 0;
        waitpid(std::exchange(id_, -1), &status, 0);
        char buffer[4'096];
        for (ssize_t got = 0; (got = read(out_, buffer, sizeof buffer)) > 0;) {
            said_.append(buffer, static_cast<std::size_t>(got));
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

private:
    void read_port() {
        char byte = 0;
        while (read(out_, &byte, 1) == 1 && byte != '\n') said_.push_back(byte);
        std::smatch found;
        if (std::regex_search(said_, found, std::regex{"listening on https?://[^ ]*:([0-9]+)"})) {
            port_ = static_cast<std::uint16_t>(std::stoi(found[1]));
        }
    }

    pid_t id_ = -1;
    int out_ = -1;
    std::string said_;
    std::uint16_t port_ = 0;
};

} // namespace semel::edge::support
