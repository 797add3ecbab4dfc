// A Redis server of a test's own, on loopback, in a folder that goes with it: to be configured
// badly, filled up and killed.
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

#include "support/free_port.hpp"
#include "support/freeze.hpp"
#include "support/redis_server.hpp"

namespace semel::test {

class private_redis {
public:
    // `settings` are options of redis-server.
    explicit private_redis(std::vector<std::string> settings = {})
        : settings_(std::move(settings)), port_(free_port()) {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a test");
        folder_ = name;
        start();
    }
    private_redis(const private_redis&) = delete;
    private_redis& operator=(const private_redis&) = delete;
    ~private_redis() {
        kill();
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] std::uint16_t port() const { return port_; }
    [[nodiscard]] redis_store_options options() const {
        redis_store_options made;
        made.port = port_;
        return made;
    }

    // As a crash would.
    void kill() { signal_and_wait(SIGKILL); }
    void freeze() { testing_support::freeze(server_); }
    void thaw() { testing_support::thaw(server_); }

    void start() {
        server_ = ::fork();
        if (server_ == 0) run();
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{20};
        while (!answers()) {
            if (std::chrono::steady_clock::now() > until) {
                throw std::runtime_error("redis-server did not come up: tools/setup servers");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
    }

private:
    [[noreturn]] void run() {
        std::vector<std::string> words{"redis-server",
                                       "--port",
                                       std::to_string(port_),
                                       "--bind",
                                       "127.0.0.1",
                                       "--save",
                                       "",
                                       "--dir",
                                       folder_,
                                       "--logfile",
                                       folder_ + "/log"};
        words.insert(words.end(), settings_.begin(), settings_.end());
        std::vector<char*> arguments;
        for (auto& one : words) arguments.push_back(one.data());
        arguments.push_back(nullptr);
        ::execvp("redis-server", arguments.data());
        ::_exit(127);
    }

    // Connections are accepted; whether it likes the client is the test's matter.
    [[nodiscard]] bool answers() const {
        redis_store_options to = options();
        const auto made = redis::make_transport_maker(to).value()();
        if (!made) return false;
        char reply[64];
        return (*made)->send("PING\r\n", std::chrono::seconds{1}) &&
               (*made)->receive(reply, std::chrono::seconds{1}) && reply[1] != 'L'; // LOADING
    }

    void signal_and_wait(int signal) {
        if (server_ <= 0) return;
        ::kill(server_, SIGCONT);
        ::kill(server_, signal);
        ::waitpid(server_, nullptr, 0);
        server_ = -1;
    }

    const std::vector<std::string> settings_;
    const std::uint16_t port_;
    std::string folder_;
    pid_t server_ = -1;
};

} // namespace semel::test
