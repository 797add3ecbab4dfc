// One connection to a webhook's endpoint: one request at a time, kept for the next.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/home_process.hpp"
#include "net/address.hpp"
#include "net/http1/response.hpp"
#include "net/tls.hpp"
#include "outbox/sinks/webhook_request.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/net/stream.hpp"

namespace semel::outbox {

struct lane_options {
    net::host_port at = {};
    std::shared_ptr<net::tls_settings> tls = {}; // shared by the lanes of a sink; null: plain
    duration connect_timeout = std::chrono::seconds{2};
    duration timeout = std::chrono::seconds{10}; // of a request, with its answer
};

// Belongs to one thread. Only connecting may block, up to its time-out.
class webhook_lane {
public:
    explicit webhook_lane(const lane_options& options) : options_(options) {}

    // Precondition: idle. `request` lives until the answer is there.
    [[nodiscard]] result<void> start(std::size_t message, std::string&& request);
    // Connects if need be.
    [[nodiscard]] result<void> reach();
    [[nodiscard]] bool busy() const { return busy_; }
    [[nodiscard]] std::size_t message() const { return message_; }

    // For poll().
    [[nodiscard]] int socket() const { return socket_; }
    [[nodiscard]] bool sending() const { return sent_ < request_.size(); }
    [[nodiscard]] local_time deadline() const { return deadline_; }

    // Does what can be done without waiting. An answer or a failure ends the request; the views of
    // an answer live until the next start().
    struct ended {
        std::optional<webhook_answer> got = {};
        std::string why = {}; // it failed
    };
    [[nodiscard]] std::optional<ended> go_on(local_time now);

private:
    [[nodiscard]] result<void> connect();
    [[nodiscard]] std::optional<ended> send();
    [[nodiscard]] std::optional<ended> receive();
    // True if more was received.
    [[nodiscard]] result<bool> fill();
    [[nodiscard]] std::optional<ended> take_head();
    [[nodiscard]] std::optional<ended> take_body();
    [[nodiscard]] std::optional<ended> on_closed();
    ended finish();
    ended fail(std::string why);

    const home_process home_;
    const lane_options& options_;
    std::unique_ptr<net::stream> stream_;
    int socket_ = -1;
    bool used_before_ = false; // the connection has carried another request

    // Of the request at work.
    bool busy_ = false;
    std::size_t message_ = 0;
    std::string request_;
    std::size_t sent_ = 0;
    local_time deadline_ = {};
    std::array<char, 4'096> piece_; // as it comes from the stream
    std::string input_;
    std::size_t taken_ = 0;
    std::optional<http1::response_head> head_;
    http1::body_reader reader_;
    std::string body_; // its beginning
    std::string retry_after_;
};

} // namespace semel::outbox
