// NATS through libnats: handles that free themselves, and connections by URL.
#pragma once

#include <nats/nats.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/home_process.hpp"
#include "net/url.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

namespace semel::nats {

// In a forked child the threads of libnats are not there, and destroying would wait for them.
template <auto destroy> struct destroyer {
    home_process home = {};

    template <class Handle> void operator()(Handle* one) const {
        if (!home.left()) destroy(one);
    }
};

using connection_handle = std::unique_ptr<natsConnection, destroyer<natsConnection_Destroy>>;
using options_handle = std::unique_ptr<natsOptions, destroyer<natsOptions_Destroy>>;
using jetstream_handle = std::unique_ptr<jsCtx, destroyer<jsCtx_Destroy>>;
using message_handle = std::unique_ptr<natsMsg, destroyer<natsMsg_Destroy>>;
using subscription_handle = std::unique_ptr<natsSubscription, destroyer<natsSubscription_Destroy>>;

struct message_list : natsMsgList {
    message_list() : natsMsgList{} {}
    message_list(const message_list&) = delete;
    message_list& operator=(const message_list&) = delete;
    ~message_list() { natsMsgList_Destroy(this); }
};

struct connection_options {
    std::string servers = {}; // "host:port,host:port"
    std::string user = {};
    std::string password = {};
    bool tls = false;
    std::string ca_file = {};
    std::string cert_file = {};
    std::string key_file = {};
    duration connect_timeout = std::chrono::seconds{2};
};

// `//user:password@host:port,host:port` of nats: and nats+tls:, and the parameters about them.
[[nodiscard]] result<connection_options> read_connection(const net::parsed_url& url,
                                                         net::url_parameters& given);

[[nodiscard]] failure failure_of(natsStatus status, std::string_view doing);

// Is this a name that may be published to? No wildcards, blanks or empty parts.
[[nodiscard]] bool is_subject(std::string_view name);

// A connection that reconnects, with growing pauses, after it was lost. libnats must not do that by
// itself: it would keep messages that were published meanwhile and send them later. One thread at a
// time.
class connection {
public:
    explicit connection(connection_options options) : options_(std::move(options)) {}

    enum class state { same, fresh };
    // Connects if need be. After a failed try the next ones fail at once for a growing while.
    [[nodiscard]] result<state> ready();
    [[nodiscard]] bool alive() const;
    [[nodiscard]] natsConnection* get() const { return it_.get(); }
    void close() { it_.reset(); }

private:
    [[nodiscard]] result<void> connect();
    [[nodiscard]] result<void> connect_to(const std::string& server);

    const home_process home_;
    const connection_options options_;
    connection_handle it_;
    local_time next_try_ = {};
    duration pause_ = {};
    failure last_failure_ = {.code = errc::unavailable};
};

} // namespace semel::nats
