#include "edge/server/listener.hpp"

#include <boost/asio/ip/v6_only.hpp>

#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "edge/server/session.hpp"
#include "edge/server/tls.hpp"

namespace semel::edge {
namespace {

failure cannot_listen(const net::host_port& at, const error_code& why) {
    const std::string what = "cannot listen on " + at.text() + ": ";
    if (why == asio::error::address_in_use) {
        return {.code = errc::address_in_use,
                .detail = what + "another process listens there. End that process, or listen on "
                                 "another port (port 0 takes a free one)"};
    }
    return {.code = errc::invalid_argument, .detail = what + why.message()};
}

// The only place where the server refuses without an answer: it reads nothing from this client.
void turn_away(tcp::socket& socket) {
    error_code ignored;
    socket.close(ignored);
}

peer_facts facts_of(const tcp::endpoint& peer, const std::vector<net::network>& trusted) {
    auto address = peer.address();
    if (address.is_v6() && address.to_v6().is_v4_mapped()) {
        address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
    }
    peer_facts facts{.address = address.to_string()};
    const auto bytes = trusted.empty() ? std::nullopt : net::parse_address(facts.address);
    if (bytes && net::any_contains(trusted, *bytes)) facts.trust = http::peer_trust::trusted;
    return facts;
}

} // namespace

listener::listener(crew& workers, std::shared_ptr<server_state> state)
    : workers_(workers),
      state_(std::move(state)),
      acceptor_(workers[0].context()),
      pause_(workers[0].context()) {}

result<std::unique_ptr<listener>> listener::open(crew& workers, server_options options,
                                                 service& serves) {
    auto state = std::make_shared<server_state>();
    if (options.tls) {
        auto tls = make_server_tls(*options.tls);
        if (!tls) return std::move(tls).error();
        state->tls.emplace(*std::move(tls));
    }
    if (!options.buffered) {
        options.buffered = std::make_shared<byte_budget>(options.buffered_bytes_max);
    }
    state->options = std::move(options);
    state->serves = &serves;
    std::unique_ptr<listener> made{new listener{workers, std::move(state)}};
    if (auto bound = made->bind(); !bound) return std::move(bound).error();
    workers[0].run([raw = made.get()] { raw->accept(); });
    return made;
}

result<void> listener::bind() {
    const net::host_port& at = state_->options.listen;
    error_code failed;
    tcp::resolver names{acceptor_.get_executor()};
    const auto found =
        names.resolve(at.host, std::to_string(at.port),
                      tcp::resolver::passive | tcp::resolver::numeric_service, failed);
    if (failed || found.empty()) return cannot_listen(at, failed);
    const tcp::endpoint endpoint = found.begin()->endpoint();
    acceptor_.open(endpoint.protocol(), failed);
    if (failed) return cannot_listen(at, failed);
    acceptor_.set_option(asio::socket_base::reuse_address{true}, failed);
    acceptor_.bind(endpoint, failed);
    if (!failed) acceptor_.listen(4'096, failed);
    if (failed) return cannot_listen(at, failed);
    address_ = {.host = acceptor_.local_endpoint().address().to_string(),
                .port = acceptor_.local_endpoint().port()};
    return {};
}

void listener::accept() {
    worker& home = workers_.next();
    acceptor_.async_accept(home.context(), [this, &home](error_code failed, tcp::socket socket) {
        on_accepted(failed, std::move(socket), home);
    });
}

void listener::on_accepted(error_code failed, tcp::socket socket, worker& home) {
    if (failed == asio::error::operation_aborted || !acceptor_.is_open()) return;
    if (failed) {
        // Out of descriptors, mostly: others have to close some first.
        pause_.expires_after(std::chrono::milliseconds{50});
        pause_.async_wait([this](error_code cancelled) {
            if (!cancelled) accept();
        });
        return;
    }
    state_->accepted.add();
    error_code gone;
    const tcp::endpoint peer = socket.remote_endpoint(gone);
    if (!gone) admit(std::move(socket), facts_of(peer, state_->options.trusted), home);
    accept();
}

void listener::admit(tcp::socket socket, peer_facts peer, worker& home) {
    const std::string block = net::block_of(peer.address);
    peer.block = std::hash<std::string>{}(block);
    const std::size_t max = state_->options.connections_per_address_max;
    const bool counted = max > 0 && peer.trust == http::peer_trust::untrusted;
    auto place = counted ? state_->addresses.enter(block, max)
                         : std::optional<address_book::place>{std::in_place};
    if (!place || !has_place(home)) {
        state_->refused.add();
        return turn_away(socket);
    }
    auto made = std::make_shared<session>(home, state_, std::move(socket), std::move(peer),
                                          *std::move(place));
    asio::post(home.context(), [made = std::move(made)] { made->start(); });
}

bool listener::has_place(worker& home) {
    const server_options& options = state_->options;
    if (state_->open.load() < options.connections_max) return true;
    return options.when_full == server_options::full::replaces && home.replace_one();
}

void listener::drain() {
    state_->draining = true;
    workers_[0].run([this] {
        error_code ignored;
        acceptor_.close(ignored);
        pause_.cancel();
    });
    for (std::size_t i = 0; i < workers_.size(); ++i) {
        workers_[i].run([&one = workers_[i]] { one.drain(); });
    }
}

drained listener::wait(duration up_to) {
    const auto until = clock::now() + up_to;
    while (state_->open.load() > 0) {
        if (clock::now() >= until) return drained::cut_off;
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }
    return drained::all;
}

server_counts server_state::counts() const {
    return {.accepted = accepted.get(),
            .refused = refused.get(),
            .open = open.load(),
            .requests = requests.get(),
            .malformed = malformed.get(),
            .timed_out = timed_out.get(),
            .overloaded = overloaded.get(),
            .buffered = options.buffered->taken()};
}

} // namespace semel::edge
