// What the demo tells: line by line for people, or the summary alone for programs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace semel::app::demo {

struct scene_report {
    std::string name;
    std::string key;
    std::string promise; // of the mode it shows, in the words of docs/promises.md
    std::size_t naive_effects = 0;
    std::size_t semel_effects = 0;
    std::vector<std::string> problems = {}; // answers that were not as promised
};

enum class output { text, json };

class narrator {
public:
    explicit narrator(output how) : how_(how) {}

    void open(std::string_view folder);
    void scene(std::string_view title);
    void naive(std::string_view line);
    void semel(std::string_view line);
    void promise(std::string_view line);
    void summary(const std::vector<scene_report>& all);

private:
    void line(std::string_view text);
    void summary_for_people(const std::vector<scene_report>& all);
    void summary_for_programs(const std::vector<scene_report>& all);

    const output how_;
    int scenes_ = 0;
};

enum class judgement { as_promised, not_as_promised };
[[nodiscard]] judgement judge(const std::vector<scene_report>& all);

// "1 order", "3 orders"; "once", "3 times"
[[nodiscard]] std::string counted(std::size_t count, std::string_view noun);
[[nodiscard]] std::string times(std::size_t count);

} // namespace semel::app::demo
