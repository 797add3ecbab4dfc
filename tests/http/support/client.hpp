// A client that sends what it is told, byte for byte, and reads answers strictly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/support/socket.hpp"
#include "net/http1/response.hpp"
#include "semel/http/message.hpp"

namespace semel::edge::support {

struct answer {
    int status = 0; // 0: none came
    http::header_list headers = {};
    std::string body = {};
    bool whole = false; // the body came to its end

    [[nodiscard]] bool replayed() const { return headers.contains("Idempotent-Replayed"); }
    [[nodiscard]] std::string header(std::string_view name) const;
    // "409 in-progress": the status and the problem's name.
    [[nodiscard]] std::string problem() const;
};

class client {
public:
    explicit client(std::uint16_t port) : socket_(socket::connect(port)) {}

    bool send(std::string_view raw) { return socket_.write(raw); }
    // The next answer, interim ones left out. `to` is what was asked.
    [[nodiscard]] answer receive(http1::asked_with to = http1::asked_with::other);
    // The next head, also an interim one.
    [[nodiscard]] std::optional<http1::response_head>
    receive_head(http1::asked_with to = http1::asked_with::other);
    [[nodiscard]] answer ask(std::string_view raw,
                             http1::asked_with to = http1::asked_with::other) {
        send(raw);
        return receive(to);
    }
    // Read from the socket, not yet given out.
    [[nodiscard]] std::size_t buffered() const { return in_.size(); }
    [[nodiscard]] socket& connection() { return socket_; }
    // Nothing has come, and nothing does within this time.
    [[nodiscard]] bool hears_nothing_for(int milliseconds);

private:
    bool fill();

    socket socket_;
    std::string in_;
};

struct post_options {
    std::string key = {}; // as sent; empty: none
    std::string body = "{}";
    std::string target = "/orders";
    std::string headers = {}; // further lines, each with its line end
    std::string method = "POST";
};
[[nodiscard]] std::string post_text(const post_options& what = {});

// On a connection of its own.
[[nodiscard]] answer post(std::uint16_t port, const post_options& what = {});
[[nodiscard]] answer get(std::uint16_t port, std::string_view target = "/");

} // namespace semel::edge::support
