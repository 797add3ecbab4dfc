// Which nodes of a parsed document a selection keeps.
#pragma once

#include <cstdint>
#include <vector>

#include "fingerprint/json_tree.hpp"

namespace semel::detail {

class json_marks {
public:
    // An empty set of marks keeps everything.
    json_marks() = default;
    json_marks(const json_tree& tree, const json_selection& selection);

    // How much of a node counts, given whether all of its container does.
    enum class extent : std::uint8_t { nothing, part, all };
    [[nodiscard]] extent of(std::size_t node, extent container) const {
        if (marks_.empty()) return extent::all;
        const std::uint8_t mark = marks_[node];
        if ((mark & removed) != 0) return extent::nothing;
        if (container == extent::all || (mark & whole) != 0) return extent::all;
        return (mark & on_path) != 0 ? extent::part : extent::nothing;
    }

private:
    static constexpr std::uint8_t on_path = 1; // leads to a selected node
    static constexpr std::uint8_t whole = 2;   // selected with all below it
    static constexpr std::uint8_t removed = 4;

    std::vector<std::uint8_t> marks_; // by node; empty: no selection
};

} // namespace semel::detail
