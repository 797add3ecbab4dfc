#include "child_process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <thread>

namespace semel::bench {

namespace {

using std::chrono::milliseconds;
constexpr auto patience = std::chrono::seconds{20};

std::string content_of_file(const std::filesystem::path& file) {
    std::ifstream from{file};
    return {std::istreambuf_iterator<char>{from}, {}};
}

template <class Done> bool wait_until(Done done) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!done()) {
        if (std::chrono::steady_clock::now() >= deadline) return false;
        std::this_thread::sleep_for(milliseconds{20});
    }
    return true;
}

sockaddr_in loopback(int port) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    made.sin_port = htons(static_cast<std::uint16_t>(port));
    return made;
}

bool listens(int port) {
    const int one = ::socket(AF_INET, SOCK_STREAM, 0);
    const sockaddr_in where = loopback(port);
    const bool there = ::connect(one, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0;
    ::close(one);
    return there;
}

[[noreturn]] void become(std::vector<char*> arguments, const char* output) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int to = ::open(output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    ::dup2(to, STDOUT_FILENO);
    ::execvp(arguments[0], arguments.data());
    ::_exit(127);
}

} // namespace

child_process::child_process(const std::vector<std::string>& command,
                             const std::filesystem::path& output)
    : output_(output) {
    std::vector<char*> arguments;
    for (const auto& one : command) arguments.push_back(const_cast<char*>(one.c_str()));
    arguments.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error{"cannot start " + command.front()};
    if (pid_ == 0) become(std::move(arguments), output_.c_str());
}

child_process::~child_process() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
}

std::string child_process::word_after(const std::string& mark) const {
    std::string found;
    const auto look = [&] {
        const std::string all = content_of_file(output_);
        const std::size_t at = all.find(mark);
        if (at == std::string::npos) return false;
        const std::size_t begin = at + mark.size();
        found = all.substr(begin, all.find_first_of(" ,\n", begin) - begin);
        return true;
    };
    if (!wait_until(look)) throw std::runtime_error{"nothing says '" + mark + "'"};
    return found;
}

std::filesystem::path child_process::about() const {
    return "/proc/" + std::to_string(pid_);
}

double child_process::peak_megabytes() const {
    return megabytes_of("VmHWM:");
}

double child_process::megabytes() const {
    return megabytes_of("VmRSS:");
}

std::size_t child_process::descriptors() const {
    const std::filesystem::directory_iterator all{about() / "fd"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

double child_process::megabytes_of(const std::string& mark) const {
    const std::string all = content_of_file(about() / "status");
    const std::size_t at = all.find(mark);
    if (at == std::string::npos) throw std::runtime_error{"a process has ended too early"};
    return std::stod(all.substr(at + mark.size())) / 1024;
}

int free_port() {
    const int one = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in where = loopback(0);
    socklen_t size = sizeof where;
    ::bind(one, reinterpret_cast<sockaddr*>(&where), size);
    ::getsockname(one, reinterpret_cast<sockaddr*>(&where), &size);
    ::close(one);
    return ntohs(where.sin_port);
}

void wait_for_port(int port) {
    if (!wait_until([port] { return listens(port); })) {
        throw std::runtime_error{"nobody listens on port " + std::to_string(port)};
    }
}

} // namespace semel::bench
