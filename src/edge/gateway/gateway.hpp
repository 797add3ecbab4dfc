// The gateway: stands in front of any HTTP service and makes its protected routes take effect once.
//
//   auto operations = edge::operations_of(options).value();
//   semel::engine engine{std::move(store), {}, {.operations = std::move(operations)}};
//   auto gateway = edge::gateway::start(options, engine).value();
#pragma once

#include <memory>

#include "edge/gateway/options.hpp"
#include "semel/base/result.hpp"
#include "semel/engine.hpp"

namespace semel::edge {

// Thread-safe. The destructor cuts off whatever has not been drained; the engine outlives it.
class gateway {
public:
    // Listens and serves from here on. Errors: a wrong option, an address that cannot be listened
    // on, a TLS file that cannot be used.
    static result<std::unique_ptr<gateway>> start(gateway_options options, semel::engine& engine);
    ~gateway();

    [[nodiscard]] net::host_port address() const;
    [[nodiscard]] gateway_counts counts() const;

    // No new connections, and no further requests on those there are. Returns at once.
    void stop_accepting();
    // The same, and finishes what runs, with or without its clients. Blocks.
    drained drain(duration up_to);
    // For drain_time at most.
    drained drain();

private:
    struct parts;
    explicit gateway(std::unique_ptr<parts> made);

    std::unique_ptr<parts> parts_;
};

} // namespace semel::edge
