// A MariaDB server that a test may crash and freeze.
#pragma once

#include <signal.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace semel::testing_support {

class private_mysql {
public:
    private_mysql() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        start();
    }
    private_mysql(const private_mysql&) = delete;
    private_mysql& operator=(const private_mysql&) = delete;
    ~private_mysql() {
        thaw();
        (void)tool("clean");
        std::filesystem::remove_all(folder_);
    }

    void start() {
        if (tool("start mysql") != 0) throw std::runtime_error("no private server");
    }
    // kill -9, and everything it had not written is lost.
    void crash() {
        if (tool("kill mysql") != 0) throw std::runtime_error("no server to kill");
    }

    // Neither answers nor closes its connections.
    void freeze() { signal(SIGSTOP); }
    void thaw() { signal(SIGCONT); }

    [[nodiscard]] int port() const { return std::stoi(line("mysql.port")); }
    [[nodiscard]] std::string url() const {
        return "mysql://semel:semel@127.0.0.1:" + line("mysql.port") + "/semel";
    }

private:
    int tool(const std::string& what) const {
        const std::string command = "SEMEL_SERVERS_DIR='" + folder_ +
                                    "' '" SEMEL_SOURCE_DIR "/tools/servers' " + what +
                                    " 2>/dev/null";
        return std::system(command.c_str());
    }

    [[nodiscard]] std::string line(const std::string& file) const {
        std::ifstream from{folder_ + "/" + file};
        std::string text;
        std::getline(from, text);
        return text;
    }

    void signal(int number) const {
        const std::string server = line("mysql.pid");
        if (!server.empty()) ::kill(std::stoi(server), number);
    }

    std::string folder_;
};

} // namespace semel::testing_support
