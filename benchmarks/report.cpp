#include "bench.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <nlohmann/json.hpp>

namespace semel::bench {

namespace {

double median(std::vector<double> of) {
    const auto middle = of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2);
    std::nth_element(of.begin(), middle, of.end());
    return *middle;
}

template <class Part> std::vector<double> each(const std::vector<figures>& rounds, Part part) {
    std::vector<double> made;
    for (const auto& one : rounds) made.push_back(part(one));
    return made;
}

bool holds(const std::optional<bar>& bar, double ratio) {
    if (!bar) return true;
    return bar->is == bar::side::at_most ? ratio <= bar->limit : ratio >= bar->limit;
}

std::string text_of(const std::optional<bar>& bar) {
    if (!bar) return "-";
    char text[32];
    std::snprintf(text, sizeof text, "%s %.2f",
                  bar->is == bar::side::at_most ? "<=" : ">=", bar->limit);
    return text;
}

std::string_view verdict_of(const row& one) {
    if (!one.asked.bar) return "";
    return one.ok ? "ok" : "MISSED";
}

void print(const row& one) {
    std::printf("%-42s %11.1f %11.1f  %-10s %6.2f (%.2f-%.2f)  %-8s %s\n",
                one.asked.scenario.c_str(), one.median.semel, one.median.reference,
                one.asked.unit.c_str(), one.ratio, one.ratio_min, one.ratio_max,
                text_of(one.asked.bar).c_str(), std::string{verdict_of(one)}.c_str());
    std::fflush(stdout);
}

void print_head() {
    std::printf("%-42s %11s %11s  %-10s %6s %-12s  %-8s\n", "scenario", "semel", "reference",
                "unit", "ratio", "(min-max)", "bar");
}

nlohmann::ordered_json json_of(const row& one) {
    nlohmann::ordered_json bar = nullptr;
    if (one.asked.bar) bar = one.asked.bar->limit;
    return {{"scenario", one.asked.scenario},
            {"unit", one.asked.unit},
            {"semel", one.median.semel},
            {"reference", one.median.reference},
            {"reference_name", one.asked.reference_name},
            {"ratio", one.ratio},
            {"bar", bar},
            {"ok", one.ok},
            {"spread", {one.ratio_min, one.ratio_max}}};
}

} // namespace

row judge(question asked, const std::vector<figures>& rounds) {
    const auto ratios = each(rounds, [](const figures& one) { return one.semel / one.reference; });
    const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
    row made{.asked = std::move(asked),
             .median = {.semel = median(each(rounds, [](auto& one) { return one.semel; })),
                        .reference = median(each(rounds, [](auto& one) { return one.reference; }))},
             .ratio = median(ratios),
             .ratio_min = *least,
             .ratio_max = *most};
    made.ok = holds(made.asked.bar, made.ratio);
    return made;
}

void report::progress(std::string_view what) {
    std::fprintf(stderr, "... %.*s\n", static_cast<int>(what.size()), what.data());
}

void report::add(question asked, const std::vector<figures>& rounds) {
    if (!std::exchange(headed_, true)) print_head();
    rows_.push_back(judge(std::move(asked), rounds));
    print(rows_.back());
}

bool report::all_ok() const {
    return std::all_of(rows_.begin(), rows_.end(), [](const row& one) { return one.ok; });
}

std::string report::json() const {
    auto rows = nlohmann::ordered_json::array();
    for (const auto& one : rows_) rows.push_back(json_of(one));
    return rows.dump(2) + "\n";
}

} // namespace semel::bench
