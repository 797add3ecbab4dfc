#include "semel/core/command.hpp"

#include <array>

namespace semel {

std::string_view name(const command& what) {
    static constexpr std::array<std::string_view, std::variant_size_v<command>> names{
        "begin",      "complete", "fail",   "release", "abandon", "renew",
        "checkpoint", "resolve",  "remove", "purge",   "lookup"};
    return names[what.index()];
}

std::string_view name(const answer& what) {
    static constexpr std::array<std::string_view, std::variant_size_v<answer>> names{
        "started",    "replay",   "in_progress", "mismatch",    "failed",
        "in_doubt",   "stored",   "renewed",     "not_renewed", "over_limit",
        "fenced_off", "resolved", "removed",     "kept",        "found"};
    return names[what.index()];
}

} // namespace semel
