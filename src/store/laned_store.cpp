#include "store/laned_store.hpp"

#include <utility>

#include "core/local_hash.hpp"
#include "semel/assert.hpp"

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
        const std::lock_guard lock{mutex_};
        stopping_ = true;
        woken_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void lane_thread::wake() {
    {
        const std::lock_guard lock{mutex_};
        woken_ = true;
    }
    changed_.notify_one();
}

void lane_thread::run() {
    std::unique_lock lock{mutex_};
    while (true) {
        changed_.wait(lock, [&] { return woken_; });
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
                         std::unique_ptr<batch_backend> keeper, lane_options options)
    : backends_(std::move(backends)) {
    SEMEL_ASSERT(!backends_.empty());
    backends_.push_back(std::move(keeper));
    for (const auto& backend : backends_) {
        lanes_.push_back(std::make_unique<lane_thread>(*backend, options));
    }
}

void laned_store::drain() {
    draining_ = true;
    // The lanes stay, closed: a completion that runs now may submit to one that has stopped
    // already. The keeper's is the last to stop, since the attempts of all the others need it.
    for (const auto& one : lanes_) one->stop();
}

// Nothing new begins. What a running attempt has to say was promised a place, and it ends.
bool laned_store::refuses(const command& what) const {
    return draining_ && !of_running_attempt(what);
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
    if (refuses(what.what)) return done(stopped());
    auto& lane = lane_of(what.id, what.what);
    lane.submit(std::move(what), std::move(done));
}

void laned_store::submit_all(std::vector<submission> many) {
    if (draining_) return store::submit_all(std::move(many));
    std::vector<std::vector<submission>> by_lane(lanes_.size());
    for (auto& one : many) by_lane[route(one.what.id, one.what.what)].push_back(std::move(one));
    for (std::size_t at = 0; at < by_lane.size(); ++at) {
        if (!by_lane[at].empty()) lanes_[at]->lane().submit_all(std::move(by_lane[at]));
    }
}

result<reply> laned_store::call(const record_id& id, command what, std::optional<time_point> now) {
    if (refuses(what)) return stopped();
    return lane_of(id, what).call(id, std::move(what), now);
}

} // namespace semel
