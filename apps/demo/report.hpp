// What the demo tells: line by line for people, or the summary alone for programs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "demo/demo.hpp"

namespace semel::demo {

struct scene_report {
    std::string name;
    std::string key;
    std::string promise; // of the mode it shows, in the words of docs/promises.md
    std::size_t naive_effects = 0;
    std::size_t semel_effects = 0;
    std::vector<std::string> problems = {}; // answers that were not as promised
};

class narrator {
public:
    explicit narrator(output how) : how_(how) {}

    // For people only, and at once.
    void line(std::string_view text) const;
    void naive(std::string_view text) const;
    void semel(std::string_view text) const;
    void summary(const std::vector<scene_report>& all) const;

private:
    const output how_;
};

[[nodiscard]] judgement judge(const std::vector<scene_report>& all);

// "1 order", "3 orders"
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);

} // namespace semel::demo
