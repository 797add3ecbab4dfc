#include "store/laned_store.hpp"

#include <utility>

#include "core/local_hash.hpp"
#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"

namespace semel {

lane_thread::lane_thread(batch_backend& backend, lane_options options)
    : lane_(
          backend, [this] { wake(); }, options),
      thread_([this] { run(); }) {}

lane_thread::~lane_thread() {
    stop();
}

void lane_thread::stop() {
    if (!thread_.joinable()) return;
    {
        const detail::guard lock{mutex_};
        stopping_ = true;
        woken_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void lane_thread::wake() {
    {
        const detail::guard lock{mutex_};
        woken_ = true;
    }
    changed_.notify_one();
}

void lane_thread::run() {
    detail::guard lock{mutex_};
    while (true) {
        changed_.wait(lock, [&]() SEMEL_REQUIRES(mutex_) { return woken_; });
        woken_ = false;
        const bool last = stopping_;
        lock.unlock();
        while (lane_.pump()) {
        }
        // A blocking caller may be at work here still; the lane wakes us when it is done.
        if (last && lane_.close()) return;
        lock.lock();
    }
}

laned_store::laned_store(std::vector<std::unique_ptr<batch_backend>> backends,
                         std::unique_ptr<batch_backend> keeper, lane_options options) {
    SEMEL_ASSERT(!backends.empty());
    for (auto& one : backends) backends_.push_back(at_home(std::move(one)));
    backends_.push_back(at_home(std::move(keeper)));
    for (const auto& backend : backends_) {
        lanes_.push_back(at_home(std::make_unique<lane_thread>(*backend, options)));
    }
}

void laned_store::drain() {
    if (home_.left()) return;
    draining_ = true;
    // The lanes stay, closed: a completion that runs now may submit to one that has stopped
    // already. The keeper's is the last to stop, since the attempts of all the others need it.
    for (const auto& one : lanes_) one->stop();
}

// Of a store that drains: nothing new begins. What a running attempt has to say was promised a
// place, and the attempt ends.
std::optional<failure> laned_store::refusal(const command& what) const {
    if (home_.left()) return opened_before_fork("the store");
    if (draining_ && !of_running_attempt(what)) return stopped();
    return std::nullopt;
}

result<void> laned_store::check_home() const {
    if (home_.left()) return opened_before_fork("the store");
    return {};
}

batch_lane& laned_store::lane_of(const record_id& id, const command& what) const {
    return lanes_[route(id, what)]->lane();
}

std::size_t laned_store::route(const record_id& id, const command& what) const {
    const std::size_t keeper = lanes_.size() - 1;
    if (std::holds_alternative<commands::renew>(what)) return keeper;
    return local_hash_of(id) % keeper;
}

void laned_store::submit(envelope what, completion done) {
    if (auto why = refusal(what.what)) return done(*std::move(why));
    auto& lane = lane_of(what.id, what.what);
    lane.submit(std::move(what), std::move(done));
}

void laned_store::submit_all(std::vector<submission> many) {
    if (draining_ || home_.left()) return store::submit_all(std::move(many));
    std::vector<std::vector<submission>> by_lane(lanes_.size());
    for (auto& one : many) by_lane[route(one.what.id, one.what.what)].push_back(std::move(one));
    for (std::size_t at = 0; at < by_lane.size(); ++at) {
        if (!by_lane[at].empty()) lanes_[at]->lane().submit_all(std::move(by_lane[at]));
    }
}

result<reply> laned_store::call(const record_id& id, command what, std::optional<time_point> now) {
    if (auto why = refusal(what)) return *std::move(why);
    return lane_of(id, what).call(id, std::move(what), now);
}

} // namespace semel
