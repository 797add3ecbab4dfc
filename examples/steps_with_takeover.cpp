// Work of several steps. The first attempt ends in the middle; the next one takes over and does not
// repeat the steps that were recorded.
#include <string>

#include <semel/engine.hpp>
#include <semel/open.hpp>

#include "support.hpp"

namespace {

struct warehouse {
    int reservations = 0;
    int charges = 0;
    int parcels = 0;
};

// A step is run at least once and recorded once: one that is cut off between its effect and its
// record runs again. So the charge carries a key on which the payment provider deduplicates.
semel::verdict<std::string> ship(semel::execution& run, warehouse& at) {
    const auto shelf = run.step("reserve", [&] {
        ++at.reservations;
        return std::string{"shelf 7"};
    });
    const auto charge = run.step("charge", [&] {
        ++at.charges;
        return "charge for " + run.child_key("payment");
    });
    // The carrier did not answer: it is not known whether there is a parcel. Under the policy
    // `retry` the next caller takes over at once; under `hold` an operator would decide.
    if (run.attempt() == 1) return semel::unknown();
    ++at.parcels;
    return "parcel from " + shelf + ", " + charge;
}

} // namespace

int main() {
    const example::scratch folder;
    semel::engine engine{semel::open_store(folder.url()).value()};
    warehouse at;
    bool taken_over = false;
    const auto order = [&] {
        return engine.execute<std::string>(
            {.tenant = "acme", .operation = "ORDER_SHIP", .key = "order-17"},
            [&](semel::execution& run) {
                taken_over = run.taken_over();
                return ship(run, at);
            });
    };

    const auto first = order();
    const auto second = order();
    const auto third = order();

    example::claim(first.kind() == semel::outcome_kind::in_doubt, "the first attempt is in doubt");
    example::claim(second.executed() && second.attempt() == 2 && taken_over,
                   "the second one took over");
    example::claim(at.reservations == 1 && at.charges == 1 && at.parcels == 1,
                   "recorded steps were not repeated");
    example::claim(third.replayed() && third.value() == second.value(),
                   "everybody after that gets its answer");
    return 0;
}
