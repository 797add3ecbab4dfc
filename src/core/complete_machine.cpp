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

complete_step complete_machine::on_failure(failure why, local_time now) {
    const bool never = why.code == errc::stopped || why.code == errc::invalid_argument ||
                       why.code == errc::limit_exceeded || why.code == errc::unsupported;
    const local_time next = now + retries_.next();
    if (never || next >= options_.give_up_at) {
        return complete_steps::gave_up{.why = std::move(why)};
    }
    return complete_steps::wait{.until = next};
}

} // namespace semel
