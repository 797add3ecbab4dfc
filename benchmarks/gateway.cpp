#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bare_sqlite.hpp"
#include "bench.hpp"
#include "scratch_dir.hpp"
#include "semel/databases/sqlite.hpp"
#include "semel_gateway.hpp"
#include "web_load.hpp"

namespace semel::bench {

namespace {

constexpr seconds usual_turn{3};
constexpr std::size_t live_records = 1'000'000;
constexpr double megabytes_max = 100;
constexpr seconds memory_load{20}; // long enough to fill what is to be filled

struct rates {
    double proxy = 0; // nginx
    double pass = 0;
    double first = 0;
    double replay = 0;
    double sqlite_first = 0;
};

struct places {
    const nginx& other;
    const semel_gateway& memory;
    const semel_gateway& sqlite;
    const wrk& clients;
};

rates one_round(const places& at, const std::string& name, seconds length) {
    const auto rate = [&](const std::string& url, web_keys keys, const std::string& run) {
        return at.clients.rate(url, keys, run, length);
    };
    return {.proxy = rate(at.other.proxy(), web_keys::fresh, name),
            .pass = rate(at.memory.url(), web_keys::none, name),
            .first = rate(at.memory.url(), web_keys::fresh, name),
            .replay = rate(at.memory.url(), web_keys::known, "known"),
            .sqlite_first = rate(at.sqlite.url(), web_keys::fresh, name)};
}

struct line {
    const char* scenario;
    double at_least;
    double rates::*semel;
};

constexpr line lines[]{
    {"gateway pass-through", 0.7, &rates::pass},
    {"gateway first, memory", 0.6, &rates::first},
    {"gateway replay, memory", 1.3, &rates::replay},
    {"gateway first, sqlite", 0.3, &rates::sqlite_first},
};

void add_rates(report& to, const std::vector<rates>& rounds) {
    for (const line& one : lines) {
        std::vector<figures> made;
        for (const auto& round : rounds) made.push_back({round.*one.semel, round.proxy});
        to.add({.scenario = one.scenario,
                .unit = "req/s",
                .reference_name = "nginx as a plain proxy",
                .bar = at_least(one.at_least)},
               made);
    }
}

void add_memory(report& to, const nginx& other, const wrk& clients,
                const std::filesystem::path& folder) {
    to.progress("gateway: making a file with " + std::to_string(live_records) + " records");
    const auto file = folder / "live.db";
    static_cast<void>(open_sqlite_store({.path = file}).value());
    bare_sqlite{file}.preload(live_records);
    const semel_gateway large{"sqlite:" + file.string(), other, folder, "live"};
    to.progress("gateway: load on " + std::to_string(live_records) + " records");
    static_cast<void>(clients.rate(large.url(), web_keys::fresh, "live", memory_load));
    to.add({.scenario = "gateway memory, 1000000 live records on sqlite",
            .unit = "MB",
            .reference_name = "what it may have",
            .bar = at_most(1)},
           {{.semel = large.process().peak_megabytes(), .reference = megabytes_max}});
}

} // namespace

void gateway(const settings& how, report& to) {
    const scratch_dir dir{how.work_dir};
    const nginx other{dir.path()};
    const wrk clients{dir.path()};
    const seconds length = std::min(usual_turn, how.per_measurement);
    {
        const semel_gateway memory{"memory:", other, dir.path(), "memory"};
        const semel_gateway sqlite{"sqlite:" + (dir.path() / "gateway.db").string(), other,
                                   dir.path(), "sqlite"};
        std::vector<rates> rounds;
        for (std::size_t i = 0; i < how.rounds; ++i) {
            to.progress("gateway: round " + std::to_string(i + 1));
            rounds.push_back(
                one_round({.other = other, .memory = memory, .sqlite = sqlite, .clients = clients},
                          "r" + std::to_string(i), length));
        }
        add_rates(to, rounds);
    }
    add_memory(to, other, clients, dir.path());
}

} // namespace semel::bench
