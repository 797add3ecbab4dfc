#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "in_flight.hpp"
#include "lines.hpp"
#include "private_server.hpp"
#include "redis_reference.hpp"
#include "scratch_dir.hpp"
#include "semel/databases/redis.hpp"
#include "semel/engine.hpp"
#include "semel/store/decorators.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

constexpr std::size_t width = 256;  // executions in flight
constexpr std::size_t callers = 64; // blocking threads
constexpr std::size_t known = 100'000;
constexpr seconds usual_turn{2};
constexpr seconds lone_turn{0.1};

class semel_side {
public:
    explicit semel_side(std::unique_ptr<store> records) : engine_(std::move(records)) {}

    // The records that are replayed later.
    void preload() {
        std::uint64_t next = 0;
        while (next < known) {
            static_cast<void>(
                run_in_flight(engine_, {.width = std::min<std::size_t>(width, known - next),
                                        .most = seconds{0.01},
                                        .next_key = [&] { return next++; }}));
        }
        next_ = next;
    }

    std::size_t first_in_flight(seconds most) {
        return run_in_flight(engine_,
                             {.width = width, .most = most, .next_key = [&] { return next_++; }});
    }
    std::size_t replays_in_flight(seconds most) {
        random_order order{++seed_, known};
        return run_in_flight(engine_, {.width = width,
                                       .most = most,
                                       .next_key = [&] { return order.next(); },
                                       .expected = outcome_kind::replayed});
    }

    std::size_t first(std::size_t threads, seconds most) {
        const std::uint64_t before = next_;
        static_cast<void>(time_threads(threads, [&](std::size_t) {
            for (const stopwatch watch; watch.elapsed() < most;) {
                require(execute(next_++).executed(), "semel: a new key was not executed");
            }
        }));
        return next_ - before;
    }
    // Of the first `among` records.
    std::size_t replays(std::size_t threads, std::size_t among, seconds most) {
        std::atomic<std::size_t> done = 0;
        seed_ += threads;
        static_cast<void>(time_threads(threads, [&](std::size_t thread) {
            random_order order{seed_ - thread, among};
            for (const stopwatch watch; watch.elapsed() < most; ++done) {
                require(execute(order.next()).replayed(), "semel: a known key was not replayed");
            }
        }));
        return done;
    }
    // The same few again and again.
    void replay_each(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            require(execute(i).replayed(), "semel: a known key was not replayed");
        }
    }

private:
    outcome<std::string> execute(std::uint64_t number) {
        return engine_.execute<std::string>(request_for(key_of(number)),
                                            [] { return answer_body(); });
    }

    engine engine_;
    std::atomic<std::uint64_t> next_ = 0;
    std::uint64_t seed_ = 0;
};

class place {
public:
    explicit place(const settings& how) : dir_(how.work_dir), server_("redis", dir_.path()) {
        const std::string url = server_.setting("SEMEL_TEST_REDIS");
        options_.port = static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
    }

    [[nodiscard]] const redis_store_options& options() const { return options_; }

private:
    const scratch_dir dir_;
    const private_server server_;
    redis_store_options options_;
};

// Operations per second of each way, in one round.
struct rates {
    double in_flight = 0, many = 0, lone = 0;
    double replay_in_flight = 0, replay_many = 0, replay_lone = 0;
    double raw = 0, raw_replay = 0; // an operation is claim and completion
    double bare = 0, bare_replay = 0;
};

template <class Run> double rate(Run run) {
    const stopwatch watch;
    const std::size_t done = run();
    return static_cast<double>(done) / watch.elapsed().count();
}

// A lone caller's figure is the machine's as much as its own: short turns, so that whatever else
// runs meets both sides alike.
void lone_turns(semel_side& semel, bare_redis& bare, seconds most, rates& made) {
    meter first, replay, bare_first, bare_replay;
    const seconds each = std::min(lone_turn, most);
    for (seconds spent{0}; spent < most; spent += each) {
        first.add([&] { return semel.first(1, each); });
        bare_first.add([&] { return bare.run_first(each); });
        replay.add([&] { return semel.replays(1, bare_redis::known, each); });
        bare_replay.add([&] { return bare.run_replays(each); });
    }
    made.lone = first.rate();
    made.bare = bare_first.rate();
    made.replay_lone = replay.rate();
    made.bare_replay = bare_replay.rate();
}

rates one_round(semel_side& semel, redis_benchmark& raw, bare_redis& bare, seconds most) {
    rates made;
    made.in_flight = rate([&] { return semel.first_in_flight(most); });
    made.raw = 1 / (1 / raw.claims(most) + 1 / raw.completions(most));
    made.many = rate([&] { return semel.first(callers, most); });
    made.replay_in_flight = rate([&] { return semel.replays_in_flight(most); });
    made.raw_replay = raw.replays(most);
    made.replay_many = rate([&] { return semel.replays(callers, known, most); });
    lone_turns(semel, bare, most, made);
    return made;
}

const std::vector<line<rates>>& lines() {
    static const char* const raw = "redis-benchmark -P 32, claim and complete scripts";
    static const char* const raw_replay = "redis-benchmark -P 32, claim script on a hit";
    static const std::vector<line<rates>> all{
        {"redis first, 256 in flight", raw, at_least(0.5), &rates::in_flight, &rates::raw},
        {"redis first, 64 callers", raw, at_least(0.25), &rates::many, &rates::raw},
        {"redis replay, 256 in flight", raw_replay, at_least(0.5), &rates::replay_in_flight,
         &rates::raw_replay},
        {"redis replay, 64 callers", raw_replay, at_least(0.25), &rates::replay_many,
         &rates::raw_replay},
        {"redis first, lone caller", "bare scripts, one connection", at_least(0.8), &rates::lone,
         &rates::bare},
        {"redis replay, lone caller", "bare script, one connection", at_least(0.8),
         &rates::replay_lone, &rates::bare_replay},
    };
    return all;
}

// Round trips of replays that a near cache could answer, beside those without it.
figures cached_round_trips(const redis_store_options& options) {
    constexpr std::size_t few = 1'000;
    const auto trips = [&](auto wrap) {
        store_counters counters;
        redis_store_options counted = options;
        counted.counters = &counters;
        semel_side on{wrap(open_redis_store(counted).value())};
        on.replay_each(few);
        const std::uint64_t before = counters.round_trips;
        on.replay_each(few);
        return static_cast<double>(counters.round_trips - before) / static_cast<double>(few);
    };
    return {.semel = trips([](auto inner) { return open_cached_store(std::move(inner)); }),
            .reference = trips([](auto inner) { return inner; })};
}

} // namespace

void redis(const settings& how, report& to) {
    to.progress("redis: making a server with " + std::to_string(known) + " records");
    const place at{how};
    semel_side semel{open_redis_store(at.options()).value()};
    semel.preload();
    redis_benchmark raw{at.options()};
    bare_redis bare{at.options()};
    std::vector<rates> rounds;
    for (std::size_t i = 0; i < how.rounds; ++i) {
        to.progress("redis: round " + std::to_string(i + 1));
        rounds.push_back(one_round(semel, raw, bare, std::min(usual_turn, how.per_measurement)));
    }
    add_lines(to, lines(), rounds);
    to.add({.scenario = "redis replay, cached",
            .unit = "trips/op",
            .reference_name = "redis replay, not cached",
            .bar = at_most(0)},
           {cached_round_trips(at.options())});
}

} // namespace semel::bench
