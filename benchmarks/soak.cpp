// The gateway at full load for ten minutes: does it grow?
#include <cstdlib>
#include <string>
#include <thread>

#include "bench.hpp"
#include "scratch_dir.hpp"
#include "semel_gateway.hpp"
#include "web_load.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

constexpr std::size_t turns = 10;
constexpr std::size_t settled = 2; // by then caches and pools are full
constexpr double growth_max = 1.1;
constexpr seconds rest{2}; // the clients' connections are closed

// Another length: SEMEL_BENCH_SOAK=60, in seconds.
seconds length() {
    const char* const given = std::getenv("SEMEL_BENCH_SOAK");
    if (given == nullptr) return seconds{600};
    const double asked = std::strtod(given, nullptr);
    require(asked >= 2 * turns, "SEMEL_BENCH_SOAK must be a number of seconds, at least 20");
    return seconds{asked};
}

} // namespace

// Any answer that is not 2xx ends it.
void soak(const settings& how, report& to) {
    const scratch_dir dir{how.work_dir};
    const nginx upstream{dir.path()};
    const wrk clients{dir.path()};
    const semel_gateway gateway{"sqlite:" + (dir.path() / "soak.db").string(), upstream, dir.path(),
                                "soak"};
    const seconds half = length() / turns / 2;
    figures memory, descriptors;
    for (std::size_t turn = 1; turn <= turns; ++turn) {
        const double first =
            clients.rate(gateway.url(), web_keys::fresh, "s" + std::to_string(turn), half);
        const double replay = clients.rate(gateway.url(), web_keys::known, "known", half);
        std::this_thread::sleep_for(rest);
        memory.semel = gateway.process().megabytes();
        descriptors.semel = static_cast<double>(gateway.process().descriptors());
        if (turn == settled) {
            memory.reference = memory.semel;
            descriptors.reference = descriptors.semel;
        }
        to.progress("soak: " + std::to_string(turn) + " of " + std::to_string(turns) + ", first " +
                    std::to_string(static_cast<long>(first)) + "/s, replay " +
                    std::to_string(static_cast<long>(replay)) + "/s, " +
                    std::to_string(memory.semel) + " MB, " +
                    std::to_string(static_cast<long>(descriptors.semel)) + " descriptors");
    }
    to.add({.scenario = "soak: memory",
            .unit = "MB",
            .reference_name = "after a fifth of the time",
            .bar = at_most(growth_max)},
           {memory});
    to.add({.scenario = "soak: descriptors",
            .unit = "open",
            .reference_name = "after a fifth of the time",
            .bar = at_most(1)},
           {descriptors});
}

} // namespace semel::bench
