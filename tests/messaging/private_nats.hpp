// A NATS server of a test's own, with JetStream, on loopback, in a folder that goes with it: to be
// stopped, killed and started again.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "nats/nats.hpp"
#include "support/free_port.hpp"
#include "support/freeze.hpp"

namespace semel::test {

class private_nats {
public:
    private_nats() : port_(free_port()) {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a test");
        folder_ = name;
        start();
    }
    private_nats(const private_nats&) = delete;
    private_nats& operator=(const private_nats&) = delete;
    ~private_nats() {
        kill();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }

    void freeze() const { testing_support::freeze(server_); }
    void thaw() const { testing_support::thaw(server_); }
    void kill() {
        if (server_ <= 0) return;
        ::kill(server_, SIGKILL);
        ::waitpid(server_, nullptr, 0);
        server_ = -1;
    }

    void start() {
        server_ = ::fork();
        if (server_ == 0) run();
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        nats::connection probe{{.servers = "127.0.0.1:" + std::to_string(port_)}};
        while (!probe.ready()) {
            if (std::chrono::steady_clock::now() > until) {
                throw std::runtime_error("nats-server did not come up: tools/setup servers");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
    }

private:
    [[noreturn]] void run() {
        const std::string port = std::to_string(port_);
        const std::string log = folder_ + "/log";
        ::execlp("nats-server", "nats-server", "-a", "127.0.0.1", "-p", port.c_str(), "-js", "-sd",
                 folder_.c_str(), "-l", log.c_str(), nullptr);
        ::_exit(127);
    }

    const std::uint16_t port_;
    std::string folder_;
    pid_t server_ = -1;
};

} // namespace semel::test
