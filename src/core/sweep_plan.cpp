#include "core/sweep_plan.hpp"

namespace semel {

duration next_sweep(const sweep_options& options, const result<sweep_report>& last) {
    if (last && last->state == sweep_state::more) return options.busy;
    return options.idle;
}

} // namespace semel
