// An HTTP/1.1 server for handlers that take requests whole. Strict about framing, bounded in
// everything; see options.hpp.
//
//   auto server = edge::server::start({.listen = {"127.0.0.1", 7071}}, answer).value();
//   …
//   server->drain(10s);
#pragma once

#include <memory>

#include "edge/server/handler.hpp"
#include "edge/server/options.hpp"
#include "semel/base/result.hpp"

namespace semel::edge {

// Thread-safe. The destructor cuts off whatever has not been drained.
class server {
public:
    // Listens and serves from here on. Errors: a wrong option, an address that cannot be listened
    // on, a TLS file that cannot be used. Without a doorkeeper every body is taken.
    static result<std::unique_ptr<server>> start(server_options options, handler answers,
                                                 doorkeeper door = {});
    ~server();

    // Where it listens, with the port that was chosen.
    [[nodiscard]] net::host_port address() const;
    [[nodiscard]] server_counts counts() const;

    // No new connections, and no further requests on those there are. Returns at once.
    void stop_accepting();
    // The same, lets requests under way finish, and closes all connections. Blocks; not from a
    // handler.
    drained drain(duration up_to);

private:
    struct parts;
    explicit server(std::unique_ptr<parts> made);

    std::unique_ptr<parts> parts_;
};

} // namespace semel::edge
