#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bare_sqlite.hpp"
#include "bench.hpp"
#include "scratch_dir.hpp"
#include "semel/databases/sqlite.hpp"
#include "semel/engine.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

constexpr std::size_t callers = 64;
constexpr std::size_t few_records = 1'000;
constexpr std::size_t many_records = 1'000'000;
// Short turns: whatever else the machine and its disk do meets all sides alike.
constexpr seconds turn{0.5};
constexpr seconds usual_round{2};

class semel_side {
public:
    explicit semel_side(const std::filesystem::path& file)
        : engine_(open_sqlite_store({.path = file}).value()) {}

    // Blocking callers, each with new keys of its own from number `first` on.
    [[nodiscard]] std::size_t run_first(std::uint64_t first, std::size_t threads, seconds most) {
        std::atomic<std::uint64_t> next = first;
        static_cast<void>(time_threads(threads, [&](std::size_t) {
            for (const stopwatch watch; watch.elapsed() < most;) {
                require(execute(key_of(next++)).executed(), "semel: a new key was not executed");
            }
        }));
        return next - first;
    }

    [[nodiscard]] std::size_t run_replays(std::size_t known, std::uint64_t seed, seconds most) {
        const stopwatch watch;
        random_order order{seed, known};
        std::size_t done = 0;
        for (; watch.elapsed() < most; ++done) {
            require(execute(key_of(order.next())).replayed(),
                    "semel: a known key was not replayed");
        }
        return done;
    }

private:
    outcome<std::string> execute(const std::string& key) {
        return engine_.execute<std::string>(request_for(key), [] { return answer_body(); });
    }

    engine engine_;
};

// Operations per second of each way, in one round.
struct rates {
    double semel_many = 0; // callers
    double semel_lone = 0;
    double semel_replay = 0;
    double bare_group = 0;
    double bare_single = 0;
    double bare_replay = 0;
};

// Two files with the same records, and keys that neither has.
struct files {
    semel_side semel;
    bare_sqlite bare;
    std::size_t known;
    std::uint64_t semel_next = known;
    std::uint64_t bare_next = known;
    std::uint64_t seed = 0;
};

rates one_round(files& on, seconds most) {
    meter semel_many, semel_lone, semel_replay, bare_group, bare_single, bare_replay;
    const auto advance = [](std::uint64_t& next, std::size_t done) { return next += done, done; };
    const seconds each = std::min(turn, most);
    for (seconds spent{0}; spent < most; spent += each) {
        semel_many.add([&] {
            return advance(on.semel_next, on.semel.run_first(on.semel_next, callers, each));
        });
        bare_group.add(
            [&] { return advance(on.bare_next, on.bare.run_first(on.bare_next, callers, each)); });
        semel_lone.add(
            [&] { return advance(on.semel_next, on.semel.run_first(on.semel_next, 1, each)); });
        bare_single.add(
            [&] { return advance(on.bare_next, on.bare.run_first(on.bare_next, 1, each)); });
        semel_replay.add([&] { return on.semel.run_replays(on.known, ++on.seed, each); });
        bare_replay.add([&] { return on.bare.run_replays(on.known, ++on.seed, each); });
    }
    return {.semel_many = semel_many.rate(),
            .semel_lone = semel_lone.rate(),
            .semel_replay = semel_replay.rate(),
            .bare_group = bare_group.rate(),
            .bare_single = bare_single.rate(),
            .bare_replay = bare_replay.rate()};
}

// A fresh file with the driver's tables and so many finished records.
void make_file(const std::filesystem::path& file, std::size_t records) {
    static_cast<void>(open_sqlite_store({.path = file}).value());
    bare_sqlite{file}.preload(records);
}

std::vector<rates> measure(const settings& how, report& to, const std::filesystem::path& in,
                           std::size_t records) {
    const std::string count = std::to_string(records);
    to.progress("sqlite: making a file with " + count + " records");
    const auto semel_file = in / ("semel-" + count + ".db");
    const auto bare_file = in / ("bare-" + count + ".db");
    make_file(semel_file, records);
    std::filesystem::copy_file(semel_file, bare_file);
    files on{.semel = semel_side{semel_file}, .bare = bare_sqlite{bare_file}, .known = records};
    std::vector<rates> rounds;
    for (std::size_t i = 0; i < how.rounds; ++i) {
        to.progress("sqlite: " + count + " records, round " + std::to_string(i + 1));
        rounds.push_back(one_round(on, std::min(usual_round, how.per_measurement)));
    }
    return rounds;
}

using rate = double rates::*;

void add_rates(report& to, question asked, const std::vector<rates>& rounds, rate semel,
               rate reference) {
    std::vector<figures> made;
    for (const auto& one : rounds) made.push_back({one.*semel, one.*reference});
    asked.unit = "op/s";
    to.add(std::move(asked), made);
}

// How many times dearer an operation is among many records than among few.
void add_growth(report& to, const std::string& what, const std::vector<rates>& few,
                const std::vector<rates>& many, rate semel, rate reference) {
    std::vector<figures> made;
    for (std::size_t i = 0; i < few.size(); ++i) {
        made.push_back({.semel = few[i].*semel / many[i].*semel,
                        .reference = few[i].*reference / many[i].*reference});
    }
    to.add({.scenario = what + ", " + std::to_string(few_records) + " to " +
                        std::to_string(many_records) + " keys",
            .unit = "x",
            .reference_name = "growth of the bare statements",
            .bar = at_most(1.25)},
           made);
}

} // namespace

void sqlite(const settings& how, report& to) {
    const scratch_dir dir{how.work_dir};
    const auto few = measure(how, to, dir.path(), few_records);
    add_rates(to,
              {.scenario = "sqlite first, 64 callers",
               .reference_name = "bare group commit of 64",
               .bar = at_least(0.7)},
              few, &rates::semel_many, &rates::bare_group);
    add_rates(to,
              {.scenario = "sqlite first, 64 callers, not grouped",
               .reference_name = "one commit per operation",
               .bar = at_least(5)},
              few, &rates::semel_many, &rates::bare_single);
    add_rates(to,
              {.scenario = "sqlite first, lone caller",
               .reference_name = "bare statements, one commit per operation",
               .bar = at_least(0.8)},
              few, &rates::semel_lone, &rates::bare_single);
    add_rates(to, {.scenario = "sqlite replay, lone caller", .reference_name = "bare look-up"}, few,
              &rates::semel_replay, &rates::bare_replay);
    const auto many = measure(how, to, dir.path(), many_records);
    add_growth(to, "sqlite growth first", few, many, &rates::semel_many, &rates::bare_group);
    add_growth(to, "sqlite growth replay", few, many, &rates::semel_replay, &rates::bare_replay);
}

} // namespace semel::bench
