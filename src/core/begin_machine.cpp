#include "core/begin_machine.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace semel {

namespace {

// Worth asking again: the store may be back in a moment.
bool passing(errc code) {
    return code == errc::unavailable || code == errc::timed_out || code == errc::conflict;
}

duration until(time_point then, time_point now) {
    return std::max(duration::zero(), then - now);
}

// What the begin has replaced, as far as the record shows: a record that could be run again, with
// one attempt fewer.
std::shared_ptr<const record> replaced_by(const record& it) {
    if (it.attempts <= 1 || mutant(bug::adopted_forgets)) return nullptr;
    auto was = std::make_shared<record>(it);
    was->policy.on_lease_expiry = lease_expiry::retry;
    was->policy.attempts_max = std::max(it.policy.attempts_max, it.attempts);
    was->lease_until = it.begun_at - it.policy.grace - duration{1};
    was->attempts -= 1;
    return was;
}

} // namespace

answers::started adopted(const record& it) {
    // An earlier attempt may have done some of the work: say so rather than not.
    const auto kind =
        it.attempts > 1 ? answers::start_kind::taken_over : answers::start_kind::first;
    return {.by = it.holder,
            .kind = kind,
            .attempt = it.attempts,
            .lease_until = it.lease_until,
            .content = it.content,
            .checkpoints = it.checkpoints,
            .replaced = replaced_by(it)};
}

begin_machine::begin_machine(begin_options&& options)
    : options_(std::move(options)),
      polls_(options_.polls, options_.seed),
      retries_(options_.polls, ~options_.seed) {}

begin_step begin_machine::start() {
    return ask_begin();
}

begin_step begin_machine::on_timer() {
    return in_doubt_ ? ask_lookup() : ask_begin();
}

begin_step begin_machine::ask_begin() {
    return begin_steps::ask{.what = options_.what};
}

begin_step begin_machine::ask_lookup() {
    return begin_steps::ask{.what = commands::lookup{}};
}

begin_step begin_machine::on_reply(reply&& got, local_time now) {
    retries_.reset();
    if (auto* started = std::get_if<answers::started>(&got.said)) {
        return begin_steps::run{.started = std::move(*started), .now = got.now};
    }
    if (std::holds_alternative<answers::in_progress>(got.said)) return on_busy(std::move(got), now);
    if (const auto* found = std::get_if<answers::found>(&got.said)) {
        return on_found(*found, got.now);
    }
    return begin_steps::answered{.with = std::move(got)};
}

begin_step begin_machine::on_busy(reply&& got, local_time now) {
    const auto busy = std::get<answers::in_progress>(got.said);
    // Our own earlier begin arrived after all: the record shows what the begin started.
    if (busy.holder.owner == options_.what.owner) return ask_lookup();
    if (now >= options_.wait_until) return begin_steps::answered{.with = std::move(got)};
    const local_time next = std::min(now + polls_.next(), options_.wait_until);
    return begin_steps::wait{.until = next, .hint = until(busy.retry_at, got.now)};
}

begin_step begin_machine::on_found(const answers::found& found, time_point now) {
    in_doubt_ = false;
    const auto& it = found.current;
    const bool ours =
        it && it->state == record_state::processing && it->holder.owner == options_.what.owner;
    if (ours) return begin_steps::run{.started = adopted(*it), .now = now};
    // Not applied, or not yet: the same owner asks again and will recognise itself.
    return ask_begin();
}

begin_step begin_machine::on_failure(failure why, local_time now) {
    if (mutant(bug::unknown_begin_is_failure) && why.possible == effect::unknown) {
        return begin_steps::run{.started = {.by = {.fence = 1, .owner = options_.what.owner},
                                            .attempt = 1,
                                            .lease_until = time_point{options_.what.lease}}};
    }
    if (why.possible == effect::unknown) in_doubt_ = was_in_doubt_ = true;
    const local_time next = now + retries_.next();
    const bool again = in_doubt_ || passing(why.code);
    if (!again || next >= options_.patience_until || why.code == errc::stopped) {
        return begin_steps::refused{.why = std::move(why)};
    }
    return begin_steps::wait{.until = next, .hint = next - now, .away = std::move(why)};
}

} // namespace semel
