#include "edge/gateway/gateway.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "edge/gateway/gateway_state.hpp"
#include "edge/gateway/guarded_request.hpp"
#include "edge/gateway/streamed_request.hpp"
#include "edge/server/listener.hpp"
#include "edge/server/session.hpp"
#include "edge/server/tls.hpp"

namespace semel::edge {
namespace {

constexpr duration tick = std::chrono::milliseconds{250};

// A request that is answered without asking store or upstream.
class refused final : public exchange {
public:
    refused(session& client, http::response answer) : client_(client), answer_(std::move(answer)) {}
    void start() override { client_.send(std::move(answer_)); }
    void on_end(ending) override {}

private:
    session& client_;
    http::response answer_;
};

class gateway_service final : public service {
public:
    explicit gateway_service(std::shared_ptr<gateway_state> of) : of_(std::move(of)) {}

    std::shared_ptr<exchange> open(session& client) override {
        http::decision made = http::admit(of_->gate, client.head(), client.peer().trust);
        if (auto* call = std::get_if<http::protected_call>(&made)) {
            return std::make_shared<guarded_request>(of_, client, std::move(*call));
        }
        if (auto* no = std::get_if<http::refusal>(&made)) {
            of_->refused.add();
            return std::make_shared<refused>(client, std::move(no->answer));
        }
        return std::make_shared<streamed_request>(*of_, client);
    }

private:
    const std::shared_ptr<gateway_state> of_; // shared by all exchanges
};

// Headers that a client may not strip by naming them in Connection: those that identify the client
// and the request.
std::vector<std::string> vital_headers(const http::gate_options& gate) {
    std::vector<std::string> names;
    for (const http::route& one : gate.routes) {
        names.insert(names.end(), one.keys.headers.begin(), one.keys.headers.end());
        names.insert(names.end(), one.principal.begin(), one.principal.end());
    }
    if (const auto* header = std::get_if<http::tenant_header>(&gate.tenants)) {
        names.push_back(header->name);
    }
    if (const auto* token = std::get_if<http::tenant_token>(&gate.tenants)) {
        names.push_back(token->header);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

gateway_options completed(gateway_options options) {
    options.server.problems = options.gate.problems;
    for (std::string& name : vital_headers(options.gate)) {
        options.server.heads.vital.push_back(std::move(name));
    }
    if (!options.server.log) options.server.log = open_spdlog_logger();
    if (!options.server.buffered) {
        options.server.buffered = std::make_shared<byte_budget>(options.server.buffered_bytes_max);
    }
    return options;
}

} // namespace

struct gateway::parts {
    parts(std::shared_ptr<gateway_state> made, unsigned threads)
        : state(std::move(made)), serves(state), workers(threads, tick, crew::apart::threads) {
        state->workers = &workers;
    }

    // Sockets belong to the workers' contexts and go before them.
    ~parts() {
        workers.stop();
        listens.reset();
        state->pools.clear();
    }
    void make_pools();

    const std::shared_ptr<gateway_state> state; // shared by all exchanges
    gateway_service serves;
    crew workers;
    std::unique_ptr<listener> listens;
};

void gateway::parts::make_pools() {
    const upstream_options& upstream = state->options.upstream;
    const std::size_t share = std::max<std::size_t>(1, upstream.connections_max / workers.size());
    for (std::size_t i = 0; i < workers.size(); ++i) {
        worker& home = workers[i];
        auto pool = std::make_shared<upstream_pool>(
            home, upstream, state->tls ? &*state->tls : nullptr, share, state->connects);
        state->pools.emplace(&home, pool);
        asio::post(home.context(), [&home, pool] { home.enter(pool); });
    }
}

result<std::unique_ptr<gateway>> gateway::start(gateway_options options, semel::engine& engine) {
    if (auto fine = check(options); !fine) return std::move(fine).error();
    options = completed(std::move(options));
    auto gate = http::gate::make(options.gate);
    if (!gate) return std::move(gate).error();
    const auto log = options.server.log;
    // Not make_shared: clang 14 cannot make an aggregate with it.
    const std::shared_ptr<gateway_state> state{
        new gateway_state{std::move(options), *std::move(gate), engine, log}};
    const upstream_options& upstream = state->options.upstream;
    if (upstream.url.how == net::base_url::scheme::https) {
        auto tls = make_client_tls(upstream.ca_file);
        if (!tls) return std::move(tls).error();
        state->tls.emplace(*std::move(tls));
    }
    auto made = std::make_unique<parts>(state, state->options.server.threads);
    made->make_pools();
    auto listens = listener::open(made->workers, state->options.server, made->serves);
    if (!listens) return std::move(listens).error();
    made->listens = *std::move(listens);
    return std::unique_ptr<gateway>{new gateway{std::move(made)}};
}

gateway::gateway(std::unique_ptr<parts> made) : parts_(std::move(made)) {}

gateway::~gateway() = default;

net::host_port gateway::address() const {
    return parts_->listens->address();
}

gateway_counts gateway::counts() const {
    const gateway_state& state = *parts_->state;
    return {.server = parts_->listens->state().counts(),
            .passed = state.passed.get(),
            .guarded = state.guarded.get(),
            .refused = state.refused.get(),
            .bypassed = state.bypassed.get(),
            .unsent = state.unsent.get(),
            .unanswered = state.unanswered.get(),
            .probes = state.probes.get(),
            .resolved = state.resolved.get(),
            .connects = state.connects.get(),
            .under_way = state.under_way.get()};
}

void gateway::stop_accepting() {
    parts_->listens->drain();
}

drained gateway::drain() {
    return drain(parts_->state->options.drain_time);
}

drained gateway::drain(duration up_to) {
    const auto until = clock::now() + up_to;
    stop_accepting();
    while (parts_->state->under_way.get() > 0 || parts_->listens->state().open.load() > 0) {
        if (clock::now() >= until) return drained::cut_off;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return drained::all;
}

} // namespace semel::edge
