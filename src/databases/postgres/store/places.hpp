// Where the rows of claims are.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "semel/record.hpp"
#include "semel/time.hpp"

namespace semel::postgres {

// A place is a hint: a row moves when it is changed, for example by a renewal of its lease. Claims
// share shelves of a few slots each. A claim that has lost its slot to others is found by its key.
class places {
public:
    // Believed as long as the lease has not been renewed, most likely.
    void remember(const claim& by, std::string_view place, duration lease);
    // Without data where it is not known; valid until the next call of a member.
    [[nodiscard]] std::string_view take(const claim& by);

private:
    struct slot {
        claim by = {};
        std::array<char, 6> place = {};
        local_time until = local_time::min(); // free from then on
    };
    using shelf = std::array<slot, 4>;
    static constexpr std::size_t shelves = 1'024;

    [[nodiscard]] shelf& shelf_of(const claim& by) { return all_[by.owner.low % shelves]; }

    std::vector<shelf> all_{shelves};
};

} // namespace semel::postgres
