#include "core/orphan_machine.hpp"

#include <algorithm>

#include "core/begin_machine.hpp"

namespace semel {

using last_seen = orphan_steps::gave_up::last_seen;

// The store has just been asked, and did not answer.
orphan_step orphan_machine::start(local_time now) {
    return hurries_ ? on_timer(now) : later(now, last_seen::unknown);
}

orphan_step orphan_machine::on_timer(local_time now) {
    asked_at_ = now;
    return orphan_steps::ask{.what = commands::lookup{}};
}

orphan_step orphan_machine::on_reply(const reply& got, local_time now) {
    const auto* found = std::get_if<answers::found>(&got.said);
    const auto* it = found != nullptr && found->current ? &*found->current : nullptr;
    const bool ours = it != nullptr && it->state == record_state::processing &&
                      it->holder.owner == options_.owner && it->holder.fence > settled_;
    if (ours) {
        settled_ = it->holder.fence;
        return orphan_steps::found{.claim = adopted(*it)};
    }
    return on_given_back(now);
}

orphan_step orphan_machine::on_given_back(local_time now) {
    if (hurries_) return orphan_steps::gave_up{.as = last_seen::absent};
    return later(now, last_seen::absent);
}

orphan_step orphan_machine::on_failure(local_time now) {
    return later(now, last_seen::unknown);
}

orphan_step orphan_machine::later(local_time now, last_seen as) {
    const local_time next = now + looks_.next();
    if (next < options_.look_until) return orphan_steps::wait{.until = next};
    const bool last = as == last_seen::unknown || asked_at_ >= options_.look_until;
    if (last) return orphan_steps::gave_up{.as = as};
    return orphan_steps::wait{.until = std::max(now, options_.look_until)};
}

void orphan_machine::hurry(local_time look_until) {
    hurries_ = true;
    options_.look_until = std::min(options_.look_until, look_until);
}

} // namespace semel
