#include "databases/postgres/store/places.hpp"

#include <algorithm>

#include "semel/base/result.hpp"

namespace semel::postgres {

namespace {

constexpr int parts_of_a_lease = 4;

} // namespace

void places::remember(const claim& by, std::string_view place, duration lease, local_time now) {
    shelf& all = shelf_of(by);
    slot& to = *std::min_element(all.begin(), all.end(), [](const slot& one, const slot& other) {
        return one.until < other.until;
    });
    SEMEL_ASSERT(place.size() == to.place.size());
    to.by = by;
    std::copy(place.begin(), place.end(), to.place.begin());
    to.until = now + lease / parts_of_a_lease;
}

std::string_view places::take(const claim& by, local_time now) {
    shelf& all = shelf_of(by);
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const slot& one) { return one.by == by; });
    if (at == all.end() || now >= at->until) return {};
    at->until = local_time::min();
    return {at->place.data(), at->place.size()};
}

} // namespace semel::postgres
