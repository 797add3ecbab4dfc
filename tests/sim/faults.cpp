#include "sim/faults.hpp"

namespace semel::sim {

namespace {

using std::chrono::milliseconds;

// Off in half of the seeds, otherwise between the two.
unsigned rate(dice& random, unsigned least, unsigned most) {
    return random.hit(500) ? 0 : least + static_cast<unsigned>(random.below(most - least + 1));
}

duration pace(dice& random, milliseconds least, milliseconds most) {
    return random.hit(500) ? duration::zero() : random.between(least, most);
}

} // namespace

fault_plan choose_faults(dice& random) {
    fault_plan plan;
    plan.lost_reply = rate(random, 10, 250);
    plan.lost_request = rate(random, 10, 250);
    plan.delayed_apply = rate(random, 10, 250);
    plan.refused = rate(random, 10, 250);
    plan.crash_every = pace(random, milliseconds{400}, milliseconds{3000});
    plan.pause_every = pace(random, milliseconds{300}, milliseconds{3000});
    plan.outage_every = pace(random, milliseconds{500}, milliseconds{3000});
    plan.clock_step_every = pace(random, milliseconds{300}, milliseconds{2000});
    plan.corrupt_every = pace(random, milliseconds{300}, milliseconds{3000});
    plan.operator_every = pace(random, milliseconds{200}, milliseconds{1500});
    plan.pause_max = random.between(milliseconds{100}, milliseconds{2500});
    plan.outage_max = random.between(milliseconds{50}, milliseconds{2000});
    plan.clock_step_max = random.between(milliseconds{10}, milliseconds{6000});
    plan.late_max = random.between(milliseconds{10}, milliseconds{2500});
    plan.latency_max = random.hit(200) ? random.between(milliseconds{50}, milliseconds{250})
                                       : random.between(milliseconds{0}, milliseconds{10});
    plan.queue_max = random.hit(250) ? 1 + random.below(3) : 1000;
    plan.batch_max = random.hit(300) ? 1 + random.below(3) : 64;
    plan.cancelled = rate(random, 50, 400);
    plan.lost_news = rate(random, 50, 1000);
    return plan;
}

fault_plan healed(const fault_plan& before) {
    fault_plan plan;
    plan.latency_max = milliseconds{5};
    plan.queue_max = before.queue_max;
    plan.batch_max = before.batch_max;
    return plan;
}

} // namespace semel::sim
