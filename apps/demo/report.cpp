#include "demo/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

namespace semel::demo {
namespace {

bool took_place_once(const scene_report& of) {
    return of.semel_effects == 1;
}

bool is_as_promised(const scene_report& of) {
    return took_place_once(of) && of.problems.empty();
}

std::string summary_json(const std::vector<scene_report>& all) {
    auto scenes = nlohmann::ordered_json::array();
    for (const auto& one : all) {
        scenes.push_back({{"scene", one.name},
                          {"key", one.key},
                          {"promise", one.promise},
                          {"naive_effects", one.naive_effects},
                          {"semel_effects", one.semel_effects},
                          {"ok", is_as_promised(one)},
                          {"problems", one.problems}});
    }
    const bool once = std::all_of(all.begin(), all.end(), took_place_once);
    return nlohmann::ordered_json{{"scenes", scenes}, {"one_effect_per_key", once}}.dump(2);
}

} // namespace

judgement judge(const std::vector<scene_report>& all) {
    return std::all_of(all.begin(), all.end(), is_as_promised) ? judgement::as_promised
                                                               : judgement::not_as_promised;
}

std::string counted(std::size_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void narrator::line(std::string_view text) const {
    if (how_ == output::text) std::cout << text << std::endl; // seen as it happens
}

void narrator::naive(std::string_view text) const {
    line(fmt::format("   naive    {}", text));
}

void narrator::semel(std::string_view text) const {
    line(fmt::format("   semel    {}", text));
}

void narrator::summary(const std::vector<scene_report>& all) const {
    if (how_ == output::json) {
        std::cout << summary_json(all) << '\n';
        return;
    }
    line(fmt::format("\n{:<52} {:>5} {:>7}", "effects per key", "naive", "semel"));
    for (const auto& one : all) {
        line(fmt::format("{:<52} {:>5} {:>7}", one.name, one.naive_effects, one.semel_effects));
    }
    for (const auto& one : all) {
        for (const auto& problem : one.problems) {
            line(fmt::format("not as promised: {}: {}", one.name, problem));
        }
    }
    const bool once = std::all_of(all.begin(), all.end(), took_place_once);
    line(fmt::format("\none effect per key: {}", once ? "yes" : "NO"));
}

} // namespace semel::demo
