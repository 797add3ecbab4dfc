#include "duration_text.hpp"

#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <utility>

#include "commands.hpp"

namespace semel::app {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::pair<std::string_view, duration>, 5> units = {
    {{"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"h", 1h}, {"d", 24h}}};

} // namespace

duration parse_duration(std::string_view option, std::string_view text) {
    std::uint32_t count = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, failed] = std::from_chars(text.data(), end, count);
    const std::string_view unit{rest, static_cast<std::size_t>(end - rest)};
    for (const auto& [name, one] : units) {
        if (failed == std::errc{} && unit == name) return one * static_cast<std::int64_t>(count);
    }
    throw usage_error(std::string{option} +
                      ": expected a time such as 500ms, 30s, 5m, 24h or 3d, " + "not \"" +
                      std::string{text} + "\"");
}

} // namespace semel::app
