// A database server that a test may crash and freeze.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/freeze.hpp"

namespace semel::testing_support {

class private_server {
public:
    // `kind` as tools/servers calls it.
    explicit private_server(std::string kind) : kind_(std::move(kind)) {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        start();
    }
    private_server(const private_server&) = delete;
    private_server& operator=(const private_server&) = delete;
    ~private_server() {
        thaw();
        (void)tool("clean");
        std::filesystem::remove_all(folder_);
    }

    void start() {
        if (tool("start " + kind_) != 0) {
            std::ifstream from{folder_ + "/said"};
            throw std::runtime_error("no private server: " +
                                     std::string{std::istreambuf_iterator<char>{from}, {}});
        }
    }
    // kill -9, and everything it had not written is lost.
    void crash() {
        if (tool("kill " + kind_) != 0) throw std::runtime_error("no server to kill");
    }

    void freeze() { each_process(testing_support::freeze); }
    void thaw() { each_process(testing_support::thaw); }

    [[nodiscard]] int port() const { return std::stoi(line(kind_ + ".port")); }

private:
    int tool(const std::string& what) const {
        const std::string command = "SEMEL_SERVERS_DIR='" + folder_ +
                                    "' '" SEMEL_SOURCE_DIR "/tools/servers' " + what + " 2>'" +
                                    folder_ + "/said'";
        return std::system(command.c_str());
    }

    [[nodiscard]] std::string line(const std::string& file) const {
        std::ifstream from{folder_ + "/" + file};
        std::string text;
        std::getline(from, text);
        return text;
    }

    // The server and its children: PostgreSQL has a process per connection.
    template <class Act> void each_process(Act act) const {
        const std::string server = line(kind_ + ".pid");
        if (server.empty()) return;
        std::vector<std::string> all{server};
        std::ifstream children{"/proc/" + server + "/task/" + server + "/children"};
        for (std::string one; children >> one;) all.push_back(one);
        for (const auto& one : all) act(std::stoi(one));
    }

    const std::string kind_;
    std::string folder_;
};

} // namespace semel::testing_support
