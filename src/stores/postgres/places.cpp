#include "stores/postgres/places.hpp"

#include <algorithm>

#include "semel/assert.hpp"

namespace semel::postgres {

namespace {

// Keepers renew after a third.
constexpr int parts_of_a_lease = 4;

} // namespace

void places::remember(const claim& by, std::string_view place, duration lease) {
    slot& to = all_[slot_of(by)];
    SEMEL_ASSERT(place.size() == to.place.size());
    to.by = by;
    to.until = local_clock::now() + lease / parts_of_a_lease;
    std::copy(place.begin(), place.end(), to.place.begin());
}

std::string_view places::find(const claim& by) const {
    const slot& at = all_[slot_of(by)];
    if (at.by != by || local_clock::now() >= at.until) return {};
    return {at.place.data(), at.place.size()};
}

} // namespace semel::postgres
