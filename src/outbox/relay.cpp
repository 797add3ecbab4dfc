#include "semel/outbox/relay.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/home_process.hpp"
#include "outbox/worker.hpp"
#include "semel/base/mutex.hpp"
#include "semel/core/policy.hpp"

namespace semel::outbox {

namespace {

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "relay: " + std::move(detail)};
}

constexpr duration measure_pause = std::chrono::seconds{5};

// Renews what the workers of one table hold, on a connection and a thread of its own: a slow sink
// or a long batch cannot delay it.
class keeper {
public:
    keeper(relay_state& shared, std::unique_ptr<table> on, std::vector<relay_worker*> all)
        : shared_(shared), table_(std::move(on)), all_(std::move(all)) {}

    void run() {
        local_time measure_at = {};
        detail::guard lock{mutex_};
        while (!ended_) {
            lock.unlock();
            for (relay_worker* const one : all_) one->keep(*table_);
            if (local_clock::now() >= measure_at) {
                measure();
                measure_at = local_clock::now() + measure_pause;
            }
            lock.lock();
            const duration nap =
                std::min<duration>(shared_.options.lease / 12, std::chrono::milliseconds{500});
            wake_.wait_for(lock, nap, [&]() SEMEL_REQUIRES(mutex_) { return ended_; });
        }
    }

    void end() {
        {
            const detail::guard lock{mutex_};
            ended_ = true;
        }
        wake_.notify_all();
    }

private:
    void measure() {
        const auto got = table_->measure();
        if (!got) return;
        const auto set = [](counter& to, std::uint64_t value) {
            to.add(value - to.get()); // wraps around, and so ends at `value`
        };
        set(shared_.metrics.backlog, got->waiting);
        set(shared_.metrics.dead_letters, got->dead);
        set(shared_.metrics.oldest_seconds,
            static_cast<std::uint64_t>(
                std::chrono::duration_cast<std::chrono::seconds>(got->oldest).count()));
    }

    relay_state& shared_;
    const std::unique_ptr<table> table_;
    const std::vector<relay_worker*> all_;
    detail::mutex mutex_;
    detail::condition wake_;
    bool ended_ SEMEL_GUARDED_BY(mutex_) = false;
};

} // namespace

result<void> check(const relay_options& options) {
    if (options.workers == 0 || options.batch == 0 || options.sink_batch == 0) {
        return refused("workers, batch and sink_batch must be 1 at least");
    }
    if (options.lease < std::chrono::milliseconds{100}) return refused("lease is below 100 ms");
    if (options.retry.attempts_max <= often) {
        return refused("attempts_max must be above " + std::to_string(often));
    }
    if (options.poll_first < duration{100} || options.poll_last < options.poll_first) {
        return refused("poll_first must be 0.1 ms at least, and poll_last no less");
    }
    if (options.retry.first < duration{1} || options.retry.last < options.retry.first) {
        return refused("the first retry must be later than now, and the last delay no shorter");
    }
    const duration longest = limits{}.duration_max;
    if (std::max({options.lease, options.rescan, options.poll_last, options.retry.last}) >
        longest) {
        return refused(
            "lease, rescan, poll_last or the last retry is longer than " +
            std::to_string(std::chrono::duration_cast<std::chrono::hours>(longest).count()) +
            " hours");
    }
    if (options.shards < 1 || options.shards > shards_max) {
        return refused("shards must be 1 to " + std::to_string(shards_max));
    }
    return {};
}

class relay::state {
public:
    explicit state(relay_options options) : shared(std::move(options)) {}

    result<void> open(const std::vector<table_opener>& tables, const sink_opener& sinks) {
        for (const auto& opener : tables) {
            std::vector<relay_worker*> own;
            for (std::size_t i = 0; i < shared.options.workers; ++i) {
                if (auto made = add_worker(opener, sinks); !made) return made;
                own.push_back(workers.back().get());
            }
            auto on = opener();
            if (!on) return std::move(on).error();
            keepers.push_back(std::make_unique<keeper>(shared, *std::move(on), std::move(own)));
        }
        return {};
    }

    void begin() {
        for (const auto& one : keepers) keeping.emplace_back([it = one.get()] { it->run(); });
        for (const auto& one : workers) working.emplace_back([it = one.get()] { it->run(); });
    }

    void join() {
        const detail::guard lock{joining};
        for (auto& one : working) {
            if (one.joinable()) one.join();
        }
        for (const auto& one : keepers) one->end();
        for (auto& one : keeping) {
            if (one.joinable()) one.join();
        }
    }

    const home_process home;
    relay_state shared;

private:
    result<void> add_worker(const table_opener& opener, const sink_opener& sinks) {
        auto on = opener();
        if (!on) return std::move(on).error();
        auto to = sinks();
        if (!to) return std::move(to).error();
        const bool ordered = shared.options.mode == relay_mode::ordered;
        const auto make = ordered ? make_ordered_worker : make_parallel_worker;
        workers.push_back(make(shared, *std::move(on), *std::move(to)));
        return {};
    }

    std::vector<std::unique_ptr<relay_worker>> workers;
    std::vector<std::unique_ptr<keeper>> keepers;
    detail::mutex joining;
    std::vector<std::thread> working;
    std::vector<std::thread> keeping;
};

result<std::unique_ptr<relay>> open_relay(std::vector<table_opener> tables,
                                          const sink_opener& sinks, relay_options options) {
    if (tables.empty()) return refused("no table");
    if (auto sound = check(options); !sound) return std::move(sound).error();
    auto made = std::make_unique<relay::state>(std::move(options));
    if (auto opened = made->open(tables, sinks); !opened) return std::move(opened).error();
    made->begin();
    return std::unique_ptr<relay>{new relay{std::move(made)}};
}

relay::relay(std::unique_ptr<state> made) : state_(std::move(made)) {}

relay::~relay() {
    if (state_->home.left()) {
        static_cast<void>(state_.release()); // its threads are the parent's
    } else {
        stop();
    }
}

void relay::stop() {
    if (state_->home.left()) return;
    state_->shared.stopping = true;
    state_->shared.options.wake->raise();
    state_->join();
}

void relay::wait() {
    if (state_->home.left()) return;
    state_->join();
}

relay_metrics relay::metrics() const {
    return state_->shared.metrics;
}

} // namespace semel::outbox
