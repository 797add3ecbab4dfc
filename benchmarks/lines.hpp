// Lines of the report that compare two rates of the same rounds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench.hpp"

namespace semel::bench {

template <class Rates> struct line {
    std::string scenario;
    const char* reference;
    std::optional<bar> is;
    double Rates::*semel;
    double Rates::*other;
};

template <class Rates>
void add_lines(report& to, const std::vector<line<Rates>>& lines,
               const std::vector<Rates>& rounds) {
    for (const auto& one : lines) {
        std::vector<figures> made;
        for (const auto& round : rounds) made.push_back({round.*one.semel, round.*one.other});
        to.add({.scenario = one.scenario,
                .unit = "op/s",
                .reference_name = one.reference,
                .bar = one.is},
               made);
    }
}

} // namespace semel::bench
