#include "edge/gateway/upstream_pool.hpp"

#include <algorithm>
#include <utility>

namespace semel::edge {
namespace {

constexpr auto names_are_fresh = std::chrono::seconds{30};

upstream_failure unsent(std::string why) {
    return {.request = upstream_failure::bytes_left::none, .why = std::move(why)};
}

} // namespace

upstream_pool::upstream_pool(worker& home, const upstream_options& options, asio::ssl::context* tls,
                             std::size_t connections_max, counter& connects)
    : home_(home),
      options_(options),
      tls_(tls),
      connections_max_(connections_max),
      connects_(connects),
      resolver_(home.context()) {
    error_code not_numeric;
    const auto address = asio::ip::make_address(options.url.at.host, not_numeric);
    if (not_numeric) return;
    endpoints_ = {tcp::endpoint{address, options.url.at.port}};
    resolved_at_ = clock::time_point::max();
}

void upstream_pool::submit(std::shared_ptr<upstream_call> call) {
    while (!idle_.empty()) {
        upstream_connection& one = *idle_.back();
        idle_.pop_back();
        if (one.is_fresh_enough(clock::now())) return one.carry(std::move(call));
        one.close();
    }
    again(std::move(call));
}

void upstream_pool::again(std::shared_ptr<upstream_call> call) {
    if (all_.size() < connections_max_) return open(std::move(call));
    enqueue(std::move(call));
}

void upstream_pool::enqueue(std::shared_ptr<upstream_call> call) {
    if (waiting_.size() >= options_.waiting_max) {
        return call->on_upstream_failed(unsent("all connections to the upstream are in use"));
    }
    waiting_.push_back({.call = std::move(call), .until = clock::now() + options_.connect_time});
}

void upstream_pool::open(std::shared_ptr<upstream_call> call) {
    connects_.add();
    auto one = std::make_shared<upstream_connection>(*this);
    all_.insert(one);
    const bool fresh = resolved_at_ == clock::time_point::max() ||
                       (!endpoints_.empty() && clock::now() - resolved_at_ < names_are_fresh);
    if (!fresh) return resolve(std::move(one), std::move(call));
    one->connect(endpoints_, std::move(call));
}

void upstream_pool::resolve(std::shared_ptr<upstream_connection> one,
                            std::shared_ptr<upstream_call> call) {
    const net::host_port& at = options_.url.at;
    resolver_.async_resolve(
        at.host, std::to_string(at.port), tcp::resolver::numeric_service,
        [this, one = std::move(one), call = std::move(call)](
            error_code failed, const tcp::resolver::results_type& found) mutable {
            if (failed == asio::error::operation_aborted) return;
            if (!failed) {
                endpoints_.assign(found.begin(), found.end());
                resolved_at_ = clock::now();
            }
            // Addresses that were right a while ago are better than none.
            if (!endpoints_.empty()) return one->connect(endpoints_, std::move(call));
            one->close();
            call->on_upstream_failed(unsent("its name is not known: " + failed.message()));
        });
}

void upstream_pool::on_idle(upstream_connection& one) {
    idle_.push_back(&one);
    serve_waiting();
}

void upstream_pool::on_closed(upstream_connection& one) {
    std::erase(idle_, &one);
    const auto kept = one.shared_from_this();
    asio::post(home_.context(), [kept] {}); // not destroyed under its own feet
    all_.erase(kept);
    serve_waiting();
}

void upstream_pool::serve_waiting() {
    if (waiting_.empty() || (idle_.empty() && all_.size() >= connections_max_)) return;
    auto call = std::move(waiting_.front().call);
    waiting_.pop_front();
    // Not from here: the connection that calls is in the middle of something.
    asio::post(home_.context(),
               [this, call = std::move(call)]() mutable { submit(std::move(call)); });
}

void upstream_pool::on_tick(clock::time_point now) {
    const std::vector<std::shared_ptr<upstream_connection>> all{all_.begin(), all_.end()};
    for (const auto& one : all) one->on_tick(now);
    while (!waiting_.empty() && waiting_.front().until <= now) {
        const auto call = std::move(waiting_.front().call);
        waiting_.pop_front();
        call->on_upstream_failed(unsent("no connection to the upstream became free in time"));
    }
}

} // namespace semel::edge
