#include "demo_child.hpp"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>

#include "semel/assert.hpp"

extern char** environ;

namespace semel::app::demo {

namespace {

constexpr int patience_ms = 30'000;

[[noreturn]] void fail(int code, const char* what) {
    throw std::system_error(code, std::generic_category(), what);
}

// posix_spawn and not fork: this process has threads.
pid_t spawn(const std::vector<std::string>& arguments, int channel) {
    std::string name = "semel";
    std::vector<std::string> copies = arguments;
    std::vector<char*> argv{name.data()};
    for (auto& one : copies) argv.push_back(one.data());
    argv.push_back(nullptr);

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, channel, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, channel, STDOUT_FILENO);
    pid_t id = -1;
    const int code = posix_spawn(&id, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (code != 0) fail(code, "cannot start a second instance of the demo");
    return id;
}

// Never signal a number that is no child of ours any more: it may belong to another process, and -1
// means all processes.
void signal_child(pid_t id, int what) {
    SEMEL_ASSERT(id > 0);
    if (::kill(id, what) != 0) fail(errno, "cannot signal the second instance");
}

} // namespace

child_process::child_process(const std::vector<std::string>& arguments) {
    std::array<int, 2> ends{};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
        fail(errno, "socketpair");
    }
    channel_ = ends[0];
    try {
        id_ = spawn(arguments, ends[1]);
    } catch (...) {
        close(ends[0]);
        close(ends[1]);
        throw;
    }
    close(ends[1]);
}

child_process::~child_process() {
    if (id_ > 0) {
        ::kill(id_, SIGKILL);
        waitpid(id_, nullptr, 0);
    }
    close(channel_);
}

std::string child_process::read_line() {
    while (unread_.find('\n') == std::string::npos) {
        pollfd ready{.fd = channel_, .events = POLLIN, .revents = 0};
        if (poll(&ready, 1, patience_ms) <= 0) {
            throw std::runtime_error{"the second instance does not answer"};
        }
        std::array<char, 512> buffer;
        const ssize_t count = read(channel_, buffer.data(), buffer.size());
        if (count <= 0) throw std::runtime_error{"the second instance ended early"};
        unread_.append(buffer.data(), static_cast<std::size_t>(count));
    }
    const std::size_t end = unread_.find('\n');
    std::string line = unread_.substr(0, end);
    unread_.erase(0, end + 1);
    return line;
}

void child_process::write_line(std::string_view line) {
    const std::string whole = std::string{line} + "\n";
    const ssize_t sent = send(channel_, whole.data(), whole.size(), MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(whole.size())) fail(errno, "the second instance is gone");
}

void child_process::kill() {
    signal_child(id_, SIGKILL);
    if (waitpid(id_, nullptr, 0) != id_) fail(errno, "waitpid");
    id_ = -1;
}

void child_process::pause() {
    signal_child(id_, SIGSTOP);
    int status = 0;
    if (waitpid(id_, &status, WUNTRACED) != id_) fail(errno, "waitpid");
    if (WIFSTOPPED(status)) return;
    id_ = -1; // its number may belong to another process by now
    throw std::runtime_error{"the second instance ended early"};
}

void child_process::resume() {
    signal_child(id_, SIGCONT);
}

} // namespace semel::app::demo
