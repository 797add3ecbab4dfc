#include "base/rfc3339.hpp"

#include <array>
#include <chrono>
#include <cstdio>

namespace semel {

std::string rfc3339(time_point when, time_step step) {
    const auto day = std::chrono::floor<std::chrono::days>(when);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{when - day};
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%06d",
                  static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                  static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                  static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()),
                  static_cast<int>(time.subseconds().count()));
    std::string made = text.data();
    if (step == time_step::seconds) made.resize(made.size() - 7);
    if (step == time_step::milliseconds) made.resize(made.size() - 3);
    return made + 'Z';
}

} // namespace semel
