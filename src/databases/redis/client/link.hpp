// One connection to the server. The link reconnects when the connection breaks.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/home_process.hpp"
#include "databases/redis/client/resp.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/metrics.hpp"
#include "semel/databases/redis.hpp"

namespace semel::redis {

using transport_maker = std::function<result<std::unique_ptr<net::stream>>()>;

// To host and port of the options, or what their `connect` says.
[[nodiscard]] result<transport_maker> make_transport_maker(const redis_store_options& options);

// Which server a connection may lead to.
enum class server_role { primary, any };

struct link_options {
    transport_maker connect = {};
    std::string user = {};
    std::string password = {};
    std::uint32_t database = 0;
    duration command_timeout = std::chrono::seconds{5};
    // Asked whenever a connection is made: what answers at the address may have been demoted since.
    server_role wanted = server_role::any;
    store_counters* counters = nullptr;
};

// One thread at a time. What the stream throws is a failure too, and the connection then gone. In a
// forked child it asks nothing.
class link {
public:
    explicit link(link_options options) : options_(std::move(options)) {}

    // Connects if need be, also where the server has said more than it was asked. After a failed
    // try the next ones fail at once for a growing while.
    [[nodiscard]] result<void> ready();

    // The usual exchange: send() all requests, then receive() that many replies, all within the
    // command time-out. After a failure the connection is gone.
    struct sending {
        std::size_t accepted = 0; // bytes the system has taken over, perhaps sent
        result<void> done = {};
    };
    [[nodiscard]] sending send(std::string_view requests);
    // Valid until the next call.
    [[nodiscard]] result<const value*> receive();

    // A reply that was not asked for, such as a message; null if none comes within `patience`.
    [[nodiscard]] result<const value*> hear(duration patience);

    // One request and its reply. A reply that is an error becomes a failure.
    [[nodiscard]] result<const value*> ask(const std::vector<std::string_view>& parts);

    void close();

private:
    // What is said when a connection begins.
    enum class introduction { login, database, role, name };

    [[nodiscard]] bool at_rest(local_time now);
    [[nodiscard]] result<void> connect();
    [[nodiscard]] result<void> introduce();
    [[nodiscard]] std::optional<failure> why_refused(introduction what, const value& got) const;
    [[nodiscard]] result<std::size_t> give(std::string_view requests, sending& made);
    [[nodiscard]] result<const value*> next_value();
    [[nodiscard]] result<void> fill(std::size_t wanted);
    [[nodiscard]] duration left() const;
    failure lose(failure why);

    // Constant after construction.
    const home_process home_;
    const link_options options_;

    std::unique_ptr<net::stream> stream_;
    std::string input_; // received, and not yet taken as replies from `taken_` on
    std::size_t taken_ = 0;
    std::size_t filled_ = 0; // input_ is larger than what has been received
    value reply_;
    local_time until_ = {}; // of the exchange at work
    local_time last_used_ = {};
    local_time next_try_ = {};
    duration pause_ = {};
    failure last_failure_ = {.code = errc::unavailable};
};

} // namespace semel::redis
