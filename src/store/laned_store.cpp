#include "store/laned_store.hpp"

#include <utility>

#include "semel/assert.hpp"

namespace semel {

namespace {

failure stopped() {
    return {.code = errc::stopped, .possible = effect::none, .detail = "the store is closing"};
}

} // namespace

lane_thread::lane_thread(batch_backend& backend, lane_options options)
    : lane_(
          backend, [this] { wake(); }, options),
      thread_([this] { run(); }) {}

lane_thread::~lane_thread() {
    {
        const std::lock_guard lock{mutex_};
        stopping_ = true;
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
        changed_.wait(lock, [&] { return woken_ || stopping_; });
        woken_ = false;
        const bool last = stopping_;
        lock.unlock();
        while (lane_.pump()) {
        }
        lock.lock();
        if (last && !woken_) return;
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
    // A completion that runs now may submit again, perhaps to a lane that is gone already.
    draining_ = true;
    lanes_.clear();
}

std::size_t laned_store::route(const record_id& id, const command& what) {
    const std::size_t keeper = lanes_.size() - 1;
    if (std::holds_alternative<commands::renew>(what)) return keeper;
    return hash_of(id) % keeper;
}

void laned_store::submit(envelope what, completion done) {
    if (draining_) return done(stopped());
    auto& lane = lanes_[route(what.id, what.what)]->lane();
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
    if (draining_) return stopped();
    return lanes_[route(id, what)]->lane().call(id, std::move(what), now);
}

} // namespace semel
