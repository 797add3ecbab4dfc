#include "demo_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

namespace semel::app::demo {

namespace {

bool once(const scene_report& of) {
    return of.semel_effects == 1;
}

bool one_effect_per_key(const std::vector<scene_report>& all) {
    return std::all_of(all.begin(), all.end(), once);
}

} // namespace

judgement judge(const std::vector<scene_report>& all) {
    const auto right = [](const scene_report& of) { return once(of) && of.problems.empty(); };
    return std::all_of(all.begin(), all.end(), right) ? judgement::as_promised
                                                      : judgement::not_as_promised;
}

std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string times(std::size_t count) {
    return count == 1 ? "once" : fmt::format("{} times", count);
}

void narrator::line(std::string_view text) {
    if (how_ == output::text) std::cout << text << std::endl; // seen as it happens
}

void narrator::open(std::string_view folder) {
    line(fmt::format("An order service on the embedded store, in {}.", folder));
    line("Beside it the naive one: look the key up; if it is new, do the work; then remember it.");
    line("An effect is a row in the table of orders or of charges, and is counted there.");
}

void narrator::scene(std::string_view title) {
    line(fmt::format("\n{}. {}", ++scenes_, title));
}

void narrator::naive(std::string_view text) {
    line(fmt::format("   naive    {}", text));
}

void narrator::semel(std::string_view text) {
    line(fmt::format("   semel    {}", text));
}

void narrator::promise(std::string_view text) {
    line(fmt::format("   promise  {}", text));
}

void narrator::summary(const std::vector<scene_report>& all) {
    if (how_ == output::text) {
        summary_for_people(all);
    } else {
        summary_for_programs(all);
    }
}

void narrator::summary_for_people(const std::vector<scene_report>& all) {
    line(fmt::format("\n{:<52} {:>5} {:>7}", "effects per key", "naive", "semel"));
    for (const auto& one : all) {
        line(fmt::format("{:<52} {:>5} {:>7}", one.name, one.naive_effects, one.semel_effects));
    }
    for (const auto& one : all) {
        for (const auto& problem : one.problems) {
            line(fmt::format("not as promised: {}: {}", one.name, problem));
        }
    }
    line(fmt::format("\none effect per key: {}", one_effect_per_key(all) ? "yes" : "NO"));
}

void narrator::summary_for_programs(const std::vector<scene_report>& all) {
    nlohmann::ordered_json scenes = nlohmann::ordered_json::array();
    for (const auto& one : all) {
        scenes.push_back({{"scene", one.name},
                          {"key", one.key},
                          {"promise", one.promise},
                          {"naive_effects", one.naive_effects},
                          {"semel_effects", one.semel_effects},
                          {"ok", once(one) && one.problems.empty()},
                          {"problems", one.problems}});
    }
    const nlohmann::ordered_json whole{{"scenes", scenes},
                                       {"one_effect_per_key", one_effect_per_key(all)}};
    std::cout << whole.dump(2) << '\n';
}

} // namespace semel::app::demo
