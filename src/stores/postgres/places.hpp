// Where the rows of claims are.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "semel/record.hpp"
#include "semel/time.hpp"

namespace semel::postgres {

// A place is a hint: rows move when they are changed, as by whoever renews the lease. Each claim
// has one slot, which the next claim that falls there takes; one that has lost it is found by its
// key.
class places {
public:
    // Believed as long as the lease has not been renewed, most likely.
    void remember(const claim& by, std::string_view place, duration lease);
    // Without data where it is not known; valid until the next call of a member.
    [[nodiscard]] std::string_view find(const claim& by) const;

private:
    struct slot {
        claim by;
        std::array<char, 6> place;
        local_time until;
    };
    static constexpr std::size_t slots = 4'096;

    [[nodiscard]] static std::size_t slot_of(const claim& by) { return by.owner.low % slots; }

    std::vector<slot> all_{slots};
};

} // namespace semel::postgres
