// A gateway on a port of its own, in front of a scripted upstream, on a memory store.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "edge/gateway/gateway.hpp"
#include "http/support/client.hpp"
#include "http/support/upstream.hpp"
#include "semel/engine.hpp"
#include "semel/store/memory.hpp"

namespace semel::edge::support {

struct rig_options {
    std::vector<http::route> routes = {{.operation = "ORDER"}};
    http::tenant_source tenants = http::single_tenant{"acme"};
    std::function<void(gateway_options&)> adjust = {};
    std::unique_ptr<store> records = {}; // default: memory
    semel::engine_options engine = {};
};

class rig {
public:
    explicit rig(rig_options with = {})
        : options_(made(with)), engine_(engine_of(with)), gateway_(start()) {}

    [[nodiscard]] std::uint16_t port() const { return gateway_->address().port; }
    [[nodiscard]] semel::edge::gateway& gateway() { return *gateway_; }
    [[nodiscard]] semel::engine& engine() { return engine_; }
    [[nodiscard]] answer send(const post_options& what) const {
        return support::post(port(), what);
    }
    [[nodiscard]] answer post(std::string key, std::string body = "{}") const {
        return support::post(port(), {.key = std::move(key), .body = std::move(body)});
    }
    // As at the end of the process: what has not been drained is cut off.
    void stop() { gateway_.reset(); }
    // The request is in the engine's hands no more.
    [[nodiscard]] bool settles() {
        return eventually([&] { return gateway_->counts().under_way == 0; });
    }

    upstream behind; // first, so that it is the last to go

private:
    gateway_options made(const rig_options& with) {
        gateway_options options;
        options.server.threads = 2;
        options.server.log = null_logger();
        options.upstream.url.at = {.host = "127.0.0.1", .port = behind.port()};
        options.gate.routes = with.routes;
        options.gate.tenants = with.tenants;
        options.drain_time = std::chrono::seconds{20};
        if (with.adjust) with.adjust(options);
        return options;
    }
    semel::engine engine_of(rig_options& with) {
        with.engine.operations = operations_of(options_).value();
        if (!with.engine.log) with.engine.log = null_logger();
        auto records = with.records ? std::move(with.records) : open_memory_store();
        return semel::engine{std::move(records), {}, std::move(with.engine)};
    }
    std::unique_ptr<semel::edge::gateway> start() {
        return semel::edge::gateway::start(options_, engine_).value();
    }

    gateway_options options_;
    semel::engine engine_;
    std::unique_ptr<semel::edge::gateway> gateway_;
};

} // namespace semel::edge::support
