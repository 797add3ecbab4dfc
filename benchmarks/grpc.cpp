// The gRPC scenario. Its measurements are a program of their own (grpc_load.cpp), so that no other
// scenario is compiled with gRPC.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench.hpp"

namespace semel::bench {

namespace {

constexpr seconds usual_turn{3};

// Calls per second; the fields in the order of the program's output.
struct rates {
    double plain = 0;
    double service_first = 0;
    double service_replay = 0;
    double front_first = 0;
    double front_replay = 0;
};

struct line {
    const char* scenario;
    double at_least;
    double rates::*semel;
};

constexpr line lines[]{
    {"grpc service, first", 0.65, &rates::service_first},
    {"grpc service, replay", 0.65, &rates::service_replay},
    {"grpc front, first", 0.33, &rates::front_first},
    {"grpc front, replay", 0.33, &rates::front_replay},
};

std::string program() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "semel-bench-grpc";
}

std::vector<rates> measured(seconds turn, std::size_t rounds) {
    const std::string command =
        "'" + program() + "' " + std::to_string(turn.count()) + " " + std::to_string(rounds);
    FILE* const from = ::popen(command.c_str(), "r");
    if (from == nullptr) throw std::runtime_error{"semel-bench-grpc does not run"};
    std::vector<rates> made;
    char text[1'024];
    while (std::fgets(text, sizeof text, from) != nullptr) {
        rates one;
        const int found = std::sscanf(text, "%lf %lf %lf %lf %lf", &one.plain, &one.service_first,
                                      &one.service_replay, &one.front_first, &one.front_replay);
        if (found == 5) made.push_back(one);
    }
    if (::pclose(from) != 0 || made.size() != rounds) {
        throw std::runtime_error{"semel-bench-grpc failed; build it with ./bench grpc"};
    }
    return made;
}

} // namespace

void grpc(const settings& how, report& to) {
    const seconds turn = std::min(usual_turn, how.per_measurement);
    to.progress("grpc: " + std::to_string(how.rounds) + " rounds");
    const auto rounds = measured(turn, how.rounds);
    for (const line& one : lines) {
        std::vector<figures> made;
        for (const auto& round : rounds) made.push_back({round.*one.semel, round.plain});
        to.add({.scenario = one.scenario,
                .unit = "calls/s",
                .reference_name = "the same service, unprotected",
                .bar = at_least(one.at_least)},
               made);
    }
}

} // namespace semel::bench
