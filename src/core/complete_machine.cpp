#include "core/complete_machine.hpp"

#include <utility>

namespace semel {

complete_machine::complete_machine(complete_options&& options)
    : options_(std::move(options)), retries_(options_.retries, options_.seed) {}

complete_step complete_machine::start() {
    return complete_steps::ask{.what = options_.what};
}

complete_step complete_machine::on_timer() {
    return complete_steps::ask{.what = options_.what};
}

complete_step complete_machine::on_reply(reply&& got) {
    return complete_steps::settled{.with = std::move(got)};
}

namespace {

// The effect is remembered although its result cannot be kept: otherwise it would be repeated.
bool bury(command& what) {
    auto* const done = std::get_if<commands::complete>(&what);
    if (done == nullptr || done->result.kind == result_kind::tombstone) return false;
    done->result.kind = result_kind::tombstone;
    done->result.body = {};
    seal(done->result);
    return true;
}

} // namespace

complete_step complete_machine::on_failure(failure why, local_time now) {
    const bool too_large = why.code == errc::limit_exceeded && why.possible == effect::none;
    if (too_large && bury(options_.what)) return complete_steps::ask{.what = options_.what};
    const bool never = why.code == errc::stopped || why.code == errc::invalid_argument ||
                       why.code == errc::limit_exceeded || why.code == errc::unsupported;
    const local_time next = now + retries_.next();
    if (never || next >= options_.give_up_at) {
        return complete_steps::gave_up{.why = std::move(why)};
    }
    return complete_steps::wait{.until = next};
}

} // namespace semel
