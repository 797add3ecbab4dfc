#include <malloc.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "semel/engine.hpp"
#include "semel/store/decorators.hpp"
#include "semel/store/memory.hpp"
#include "striped_map.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

constexpr std::size_t judged_keys = 2'000'000;
constexpr std::size_t few_keys = 1'000;
constexpr std::size_t many_keys = 4'000'000;
constexpr std::size_t cached_keys = 500'000;
constexpr std::size_t replays = 1'000'000;
// Short turns: whatever else the machine does meets both sides alike.
constexpr std::size_t turn = 20'000;

const char* const map_name = "striped absl::flat_hash_map";

// The whole way of a caller through the engine.
class semel_side {
public:
    explicit semel_side(std::unique_ptr<store> records) : engine_(std::move(records)) {}

    void first(const std::string& key) {
        const auto got = execute(key);
        require(got.executed(), "semel: a new key was not executed");
    }
    void replay(const std::string& key) {
        const auto got = execute(key);
        require(got.replayed(), "semel: a known key was not replayed");
    }

private:
    outcome<std::string> execute(const std::string& key) {
        return engine_.execute<std::string>(request_for(key), [] { return answer_body(); });
    }

    engine engine_;
};

// The same reads and writes without anything around them.
class map_side {
public:
    void first(const std::string& key) {
        const std::uint64_t token = mix(reinterpret_cast<std::uintptr_t>(&key));
        require(map_.claim(key, content_of(key), token), "reference: a new key was not claimed");
        require(map_.complete(key, token, answer_body()), "reference: not completed");
    }
    void replay(const std::string& key) {
        std::string body;
        require(map_.replay(key, content_of(key), body), "reference: not replayed");
    }

private:
    striped_map map_;
};

// Keys that are new to the side, in order.
template <class Side>
seconds run_first(Side& on, const std::string* keys, std::size_t count, std::size_t threads) {
    return time_threads(threads, [&](std::size_t thread) {
        for (std::size_t i = thread; i < count; i += threads) on.first(keys[i]);
    });
}

template <class Side>
seconds run_replays(Side& on, const std::string* keys, std::size_t known, std::size_t count,
                    std::size_t threads, std::uint64_t seed) {
    return time_threads(threads, [&](std::size_t thread) {
        random_order order{seed + thread, known};
        for (std::size_t i = thread; i < count; i += threads) on.replay(keys[order.next()]);
    });
}

// Adds up both sides' turns.
class tally {
public:
    explicit tally(seconds most) : most_(most) {}

    void add(std::size_t operations, seconds semel, seconds reference) {
        operations_ += operations;
        semel_ += semel;
        reference_ += reference;
    }
    [[nodiscard]] bool over() const { return semel_ >= most_ || reference_ >= most_; }
    [[nodiscard]] std::size_t operations() const { return operations_; }
    // Nanoseconds of one thread per operation.
    [[nodiscard]] figures cost(std::size_t threads) const {
        const double scale = 1e9 * static_cast<double>(threads) / static_cast<double>(operations_);
        return {.semel = semel_.count() * scale, .reference = reference_.count() * scale};
    }

private:
    seconds most_;
    std::size_t operations_ = 0;
    seconds semel_{0};
    seconds reference_{0};
};

// Two sides that are given the same keys.
template <class Semel, class Reference> struct pair_of_sides {
    Semel& semel;
    Reference& reference;
    const std::string* keys;
    std::size_t threads;

    // From `from` known keys to `to`, or fewer if time is up.
    void fill(std::size_t from, std::size_t to, tally& cost) {
        while (from < to && !cost.over()) {
            const std::size_t count = std::min(turn, to - from);
            const seconds ours = run_first(semel, keys + from, count, threads);
            const seconds theirs = run_first(reference, keys + from, count, threads);
            cost.add(count, ours, theirs);
            from += count;
        }
    }

    void ask_again(std::size_t known, std::size_t count, tally& cost) {
        for (std::size_t done = 0; done < count && !cost.over(); done += turn) {
            const seconds ours = run_replays(semel, keys, known, turn, threads, done);
            const seconds theirs = run_replays(reference, keys, known, turn, threads, done);
            cost.add(turn, ours, theirs);
        }
    }
};

template <class Semel, class Reference>
pair_of_sides(Semel&, Reference&, const std::string*, std::size_t)
    -> pair_of_sides<Semel, Reference>;

// What one round on fresh stores brought.
struct round {
    std::size_t keys = 0;
    figures first;
    figures replay;
};

round small_round(const std::vector<std::string>& keys, seconds most) {
    constexpr int stores = 50;
    tally first{most};
    tally replay{most};
    for (int i = 0; i < stores; ++i) {
        semel_side ours{open_memory_store()};
        map_side theirs;
        pair_of_sides both{ours, theirs, keys.data(), 1};
        both.fill(0, few_keys, first);
        both.ask_again(few_keys, turn, replay);
    }
    return {.keys = few_keys, .first = first.cost(1), .replay = replay.cost(1)};
}

// Fills fresh stores, stopping at each of `sizes` to ask again.
std::vector<round> large_round(const std::vector<std::string>& keys,
                               const std::vector<std::size_t>& sizes, std::size_t threads,
                               seconds most) {
    malloc_trim(0); // both sides begin without pages of the last round
    semel_side ours{open_memory_store()};
    map_side theirs;
    pair_of_sides both{ours, theirs, keys.data(), threads};
    tally first{most * static_cast<double>(sizes.size())};
    std::vector<round> made;
    for (const std::size_t size : sizes) {
        both.fill(first.operations(), size, first);
        tally replay{most};
        both.ask_again(first.operations(), replays, replay);
        made.push_back({.keys = first.operations(),
                        .first = first.cost(threads),
                        .replay = replay.cost(threads)});
    }
    return made;
}

std::string label(const std::string& what, std::size_t keys, std::size_t threads) {
    return what + ", " + std::to_string(keys) + " keys, " + std::to_string(threads) +
           (threads == 1 ? " thread" : " threads");
}

template <class Part> std::vector<figures> each(const std::vector<round>& rounds, Part part) {
    std::vector<figures> made;
    for (const auto& one : rounds) made.push_back(one.*part);
    return made;
}

void add_costs(report& to, const std::vector<round>& rounds, std::size_t threads) {
    const std::size_t keys = rounds.back().keys;
    to.add({.scenario = label("memory first", keys, threads),
            .unit = "ns/op",
            .reference_name = map_name,
            .bar = at_most(2.5)},
           each(rounds, &round::first));
    to.add({.scenario = label("memory replay", keys, threads),
            .unit = "ns/op",
            .reference_name = map_name,
            .bar = at_most(2)},
           each(rounds, &round::replay));
}

// How many times dearer an operation is among many records than among few.
template <class Part>
void add_growth(report& to, const std::string& what, const std::vector<round>& few,
                const std::vector<round>& many, Part part) {
    std::vector<figures> made;
    for (std::size_t i = 0; i < few.size(); ++i) {
        const figures& low = few[i].*part;
        const figures& high = many[i].*part;
        made.push_back(
            {.semel = high.semel / low.semel, .reference = high.reference / low.reference});
    }
    to.add({.scenario = what + ", " + std::to_string(few_keys) + " to " +
                        std::to_string(many.back().keys) + " keys",
            .unit = "x",
            .reference_name = std::string{"growth of "} + map_name,
            .bar = at_most(1.25)},
           made);
}

void one_thread(const settings& how, report& to, const std::vector<std::string>& keys) {
    std::vector<round> few;
    std::vector<round> judged;
    std::vector<round> many;
    for (std::size_t i = 0; i < how.rounds; ++i) {
        to.progress("memory: 1 thread, round " + std::to_string(i + 1));
        few.push_back(small_round(keys, how.per_measurement));
        auto large = large_round(keys, {judged_keys, many_keys}, 1, how.per_measurement);
        judged.push_back(large.front());
        many.push_back(large.back());
    }
    add_costs(to, judged, 1);
    add_growth(to, "memory growth first", few, many, &round::first);
    add_growth(to, "memory growth replay", few, many, &round::replay);
}

void two_threads(const settings& how, report& to, const std::vector<std::string>& keys) {
    std::vector<round> judged;
    for (std::size_t i = 0; i < how.rounds; ++i) {
        to.progress("memory: 2 threads, round " + std::to_string(i + 1));
        judged.push_back(large_round(keys, {judged_keys}, 2, how.per_measurement).front());
    }
    add_costs(to, judged, 2);
}

void near_cache(const settings& how, report& to, const std::vector<std::string>& keys) {
    to.progress("memory: cached replay");
    constexpr std::size_t plenty = std::size_t{2} << 30;
    semel_side ours{open_cached_store(open_memory_store(),
                                      {.bytes_max = plenty, .age_max = std::chrono::hours{1}})};
    semel_side theirs{open_memory_store()};
    pair_of_sides both{ours, theirs, keys.data(), 1};
    tally filled{how.per_measurement};
    both.fill(0, cached_keys, filled);
    std::vector<figures> rounds;
    for (std::size_t i = 0; i < how.rounds; ++i) {
        tally replay{how.per_measurement};
        both.ask_again(filled.operations(), replays, replay);
        rounds.push_back(replay.cost(1));
    }
    to.add({.scenario = label("cached replay", filled.operations(), 1),
            .unit = "ns/op",
            .reference_name = "memory replay",
            .bar = at_most(1.2)},
           rounds);
}

} // namespace

void memory(const settings& how, report& to) {
    to.progress("memory: making keys");
    const auto keys = make_keys(0, many_keys);
    one_thread(how, to, keys);
    two_threads(how, to, keys);
    near_cache(how, to, keys);
}

} // namespace semel::bench
