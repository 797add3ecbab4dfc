// A database server of the benchmark's own, on loopback, for as long as a scenario runs.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

namespace semel::bench {

class private_server {
public:
    // `kind` as tools/servers calls it; its files are kept below `folder` and go with it.
    private_server(std::string kind, const std::filesystem::path& folder)
        : kind_(std::move(kind)),
          tool_("SEMEL_SERVERS_DIR='" + (folder / kind_).string() +
                "' '" SEMEL_SOURCE_DIR "/tools/servers' ") {
        run("start " + kind_);
    }
    private_server(const private_server&) = delete;
    private_server& operator=(const private_server&) = delete;
    ~private_server() { (void)!std::system((tool_ + "clean 2>/dev/null").c_str()); }

    // What `tools/servers env` says, such as SEMEL_TEST_POSTGRES.
    [[nodiscard]] std::string setting(const std::string& name) const {
        FILE* const from = ::popen((tool_ + "env").c_str(), "r");
        if (from == nullptr) throw std::runtime_error{"tools/servers does not run"};
        std::string found;
        char line[1'024];
        while (std::fgets(line, sizeof line, from) != nullptr) {
            const std::string text{line};
            if (text.starts_with(name + "=")) {
                found = text.substr(name.size() + 1, text.find('\n') - name.size() - 1);
            }
        }
        ::pclose(from);
        if (found.empty()) throw std::runtime_error{"tools/servers knows no " + name};
        return found;
    }

private:
    void run(const std::string& what) const {
        if (std::system((tool_ + what).c_str()) != 0) {
            throw std::runtime_error{"tools/servers " + what +
                                     " failed; `tools/setup servers` installs what it needs"};
        }
    }

    const std::string kind_;
    const std::string tool_;
};

} // namespace semel::bench
