// The connections of one worker to the upstream.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>

#include <deque>
#include <memory>
#include <unordered_set>
#include <vector>

#include "edge/gateway/options.hpp"
#include "edge/gateway/upstream_call.hpp"
#include "edge/gateway/upstream_connection.hpp"
#include "edge/server/worker.hpp"
#include "semel/core/metrics.hpp"

namespace semel::edge {

// Belongs to one worker.
class upstream_pool final : public worker::resident {
public:
    // All of them outlive it. `tls` is null for plain connections; `connections_max` is this
    // worker's share.
    upstream_pool(worker& home, const upstream_options& options, asio::ssl::context* tls,
                  std::size_t connections_max, counter& connects);

    // On a connection that is idle, or a new one, or when one is free.
    void submit(std::shared_ptr<upstream_call> call);

    // ---- for connections
    [[nodiscard]] worker& home() { return home_; }
    [[nodiscard]] const upstream_options& options() const { return options_; }
    [[nodiscard]] asio::ssl::context* tls() { return tls_; }
    void on_idle(upstream_connection& one);
    void on_closed(upstream_connection& one);
    // Sends a call again on a new connection: no byte of the call has left, or the call is safe.
    void again(std::shared_ptr<upstream_call> call);

    void on_tick(clock::time_point now) override;
    void on_drain() override {}

private:
    void open(std::shared_ptr<upstream_call> call);
    void enqueue(std::shared_ptr<upstream_call> call);
    void resolve(std::shared_ptr<upstream_connection> one, std::shared_ptr<upstream_call> call);
    void serve_waiting();

    struct waiting {
        std::shared_ptr<upstream_call> call; // shared with its session
        clock::time_point until;
    };

    worker& home_;
    const upstream_options& options_;
    asio::ssl::context* const tls_;
    const std::size_t connections_max_;
    counter& connects_;
    tcp::resolver resolver_;
    std::vector<tcp::endpoint> endpoints_;
    clock::time_point resolved_at_ = {};
    // Shared with their handlers under way.
    std::unordered_set<std::shared_ptr<upstream_connection>> all_;
    std::vector<upstream_connection*> idle_; // the last used is used first; all are in all_
    std::deque<waiting> waiting_;
};

} // namespace semel::edge
