// nginx as the upstream and as a plain proxy to it, and wrk as the clients of whoever stands
// before.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "bench.hpp"
#include "child_process.hpp"

namespace semel::bench {

class nginx {
public:
    explicit nginx(const std::filesystem::path& folder);

    [[nodiscard]] std::string upstream() const { return "http://127.0.0.1:" + port_text(up_); }
    [[nodiscard]] std::string proxy() const { return "http://127.0.0.1:" + port_text(proxy_); }

private:
    static std::string port_text(int port) { return std::to_string(port); }

    const int up_ = free_port();
    const int proxy_ = free_port();
    std::unique_ptr<child_process> running_;
};

enum class web_keys {
    none,  // not protected
    fresh, // every request a new one
    known, // a thousand in turn
};

// POST of 256 bytes of JSON by 64 connections.
class wrk {
public:
    explicit wrk(const std::filesystem::path& folder);

    // Requests per second. Every answer must be 2xx. Runs of one name share their keys.
    [[nodiscard]] double rate(const std::string& url, web_keys keys, const std::string& name,
                              seconds length) const;

private:
    const std::filesystem::path script_;
};

} // namespace semel::bench
