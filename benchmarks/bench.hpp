// What every scenario of the benchmark shares: rows, bars, rounds, and the report.
//
// A scenario measures semel beside a reference that does the least anybody could do for the same
// promise. Both run in one process, turn by turn, so that a busy machine slows both alike; only
// their ratio is judged.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::bench {

using seconds = std::chrono::duration<double>;

// What the ratio semel ÷ reference must be.
struct bar {
    enum class side { at_most, at_least };
    side is = side::at_most;
    double limit = 0;
};

[[nodiscard]] inline bar at_most(double limit) {
    return {.is = bar::side::at_most, .limit = limit};
}
[[nodiscard]] inline bar at_least(double limit) {
    return {.is = bar::side::at_least, .limit = limit};
}

// One line of the report before it is measured.
struct question {
    std::string scenario = {};
    std::string unit = {}; // of both figures
    std::string reference_name = {};
    std::optional<semel::bench::bar> bar = {}; // none: for information
};

// Both figures of one round.
struct figures {
    double semel = 0;
    double reference = 0;
};

struct row {
    question asked;
    figures median;   // of each side by itself
    double ratio = 0; // the median of the rounds' ratios
    double ratio_min = 0;
    double ratio_max = 0;
    bool ok = true;
};

// Rounds: at least one; an odd number has a true median.
[[nodiscard]] row judge(question asked, const std::vector<figures>& rounds);

struct settings {
    seconds per_measurement{15}; // at most, for one round of one side
    std::size_t rounds = 3;
    std::filesystem::path work_dir; // on a disk; scenarios leave nothing behind in it
};

// Collects rows and shows them as they come. Not thread-safe.
class report {
public:
    // A word on what is being done, to standard error.
    void progress(std::string_view what);
    void add(question asked, const std::vector<figures>& rounds);

    [[nodiscard]] bool all_ok() const;
    [[nodiscard]] std::string json() const;

private:
    bool headed_ = false;
    std::vector<row> rows_;
};

struct scenario {
    enum class runs { always, when_named };

    std::string_view name;
    std::string_view summary;
    void (*run)(const settings&, report&);
    runs when = runs::always;
};

// Every scenario, in the order they run. A new one is a file of its own and a line in
// scenarios.cpp.
[[nodiscard]] const std::vector<scenario>& scenarios();

void memory(const settings& how, report& to);
void sqlite(const settings& how, report& to);
void postgres(const settings& how, report& to);
void mysql_server(const settings& how, report& to); // `mysql` is a namespace
void redis(const settings& how, report& to);
void gateway(const settings& how, report& to);
void sinks(const settings& how, report& to);
void outbox_relay(const settings& how, report& to); // `outbox` is a namespace
void grpc(const settings& how, report& to);
void operations(const settings& how, report& to);
void soak(const settings& how, report& to);

} // namespace semel::bench
