#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>

namespace semel {

namespace {

// Insertions, deletions, replacements and swaps of neighbours between two names.
std::size_t distance(std::string_view left, std::string_view right) {
    std::vector<std::vector<std::size_t>> d(left.size() + 1,
                                            std::vector<std::size_t>(right.size() + 1));
    for (std::size_t i = 0; i <= left.size(); ++i) d[i][0] = i;
    std::iota(d[0].begin(), d[0].end(), std::size_t{0});
    for (std::size_t i = 1; i <= left.size(); ++i) {
        for (std::size_t j = 1; j <= right.size(); ++j) {
            const std::size_t replaced = d[i - 1][j - 1] + (left[i - 1] == right[j - 1] ? 0 : 1);
            d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
            const bool swapped =
                i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1];
            if (swapped) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[left.size()][right.size()];
}

// Whole words of the one are in the other: "timeout" is meant to be one of "head_timeout" ….
bool holds_word(std::string_view wrong, std::string_view known) {
    return wrong.size() >= 3 && known.find(wrong) != std::string_view::npos;
}

} // namespace

std::string nearest(std::string_view wrong, const std::vector<std::string>& known) {
    // Names are short; a longer text is not one that was mistyped.
    constexpr std::size_t name_bytes_max = 64;
    if (wrong.size() > name_bytes_max) return {};
    std::string best;
    std::size_t least = std::max<std::size_t>(2, wrong.size() / 3) + 1;
    for (const std::string& one : known) {
        const std::size_t far = holds_word(wrong, one) ? 2 : distance(wrong, one);
        if (far >= least) continue;
        least = far;
        best = one;
    }
    return best;
}

} // namespace semel
