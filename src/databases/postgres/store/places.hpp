// Where the rows of claims are.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "semel/base/time.hpp"
#include "semel/core/record.hpp"

namespace semel::postgres {

// A place is a hint: a row moves when it is changed, for example by a renewal of its lease. Claims
// share shelves of a few slots each. A claim that has lost its slot to others is found by its key.
class places {
public:
    // The place is believed for a quarter of the lease: keepers renew a lease after a third.
    void remember(const claim& by, std::string_view place, duration lease, local_time now);
    // Empty if the place is not known. Valid until the next call of a member.
    [[nodiscard]] std::string_view take(const claim& by, local_time now);

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
