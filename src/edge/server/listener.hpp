// Accepts connections and deals them out to the workers in turn.
#pragma once

#include <atomic>
#include <memory>

#include "edge/server/byte_stream.hpp"
#include "edge/server/server_state.hpp"
#include "edge/server/session.hpp"
#include "edge/server/worker.hpp"
#include "semel/base/result.hpp"

namespace semel::edge {

class listener {
public:
    // The crew and the service in `options` outlive it. Errors: the address cannot be listened on,
    // or a TLS file cannot be used.
    static result<std::unique_ptr<listener>> open(crew& workers, server_options options,
                                                  service& serves);

    [[nodiscard]] net::host_port address() const { return address_; }
    [[nodiscard]] server_state& state() { return *state_; }

    // Stops accepting and tells the sessions; returns at once. May be called again.
    void drain();
    // Waits until no session is left, up to that long.
    [[nodiscard]] drained wait(duration up_to);

private:
    listener(crew& workers, std::shared_ptr<server_state> state);
    result<void> bind();
    void accept();
    void on_accepted(error_code failed, tcp::socket socket, worker& home);
    void admit(tcp::socket socket, peer_facts peer, worker& home);
    [[nodiscard]] bool has_place(worker& home);

    crew& workers_;
    const std::shared_ptr<server_state> state_; // shared with the sessions
    tcp::acceptor acceptor_;                    // used on the first worker
    asio::steady_timer pause_;
    net::host_port address_;
};

} // namespace semel::edge
