#include "store/tier_plan.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "store/lane.hpp"

namespace semel {

namespace {

using entry_kind = front_entry::kind;

// A token outlives the question to the truth it was drawn for.
constexpr duration token_life = std::chrono::seconds{30};
// The front does not know the time of a test: its entries live longer, but they do expire.
constexpr duration test_life = std::chrono::hours{24};

template <class... Kinds> bool is_one_of(const answer& said) {
    return (std::holds_alternative<Kinds>(said) || ...);
}

duration life_until(time_point end, time_point now, const tier_lesson::setting& with) {
    if (with.testing) return test_life;
    return std::max(end - now, duration{1});
}

duration gate_life(const tier_lesson::setting& with) {
    return with.testing ? test_life : with.gate_life;
}

// Answers after which a record is as it was: what the front has is still right.
bool changed_nothing(const answer& said) {
    return is_one_of<answers::kept, answers::fenced_off, answers::in_progress, answers::mismatch,
                     answers::replay, answers::failed, answers::in_doubt>(said);
}

} // namespace

std::optional<front_command> asked_first(const command& what, std::uint64_t token) {
    if (of_running_attempt(what)) return std::nullopt;
    const bool changes_what_is_finished = std::holds_alternative<commands::remove>(what) ||
                                          std::holds_alternative<commands::resolve>(what);
    if (changes_what_is_finished) return fronts::forget{};
    const auto* const begin = std::get_if<commands::begin>(&what);
    if (begin == nullptr) return fronts::pass{};
    if (begin->mismatch == on_mismatch::overwrite) return fronts::forget{};
    return fronts::look{.token = token, .life = token_life};
}

std::optional<answer> answer_from(front_entry&& known, const commands::begin& what,
                                  time_point now) {
    if (known.content != what.content) return std::nullopt;
    switch (known.what) {
    case entry_kind::gate:
    case entry_kind::rumour: {
        const time_point retry_at = known.lease_until + known.grace;
        if (now >= retry_at || now >= known.until) return std::nullopt;
        return answers::in_progress{
            .retry_at = retry_at, .holder = known.holder, .attempt = known.attempt};
    }
    case entry_kind::replay:
        if (now >= known.expires_at || !holds(known.result)) return std::nullopt;
        return answers::replay{.result = std::move(known.result),
                               .fence = known.holder.fence,
                               .expires_at = known.expires_at};
    case entry_kind::failed:
        if (now >= known.expires_at) return std::nullopt;
        return answers::failed{.state = record_state::failed_final,
                               .error = std::move(known.error),
                               .attempts = known.attempt,
                               .expires_at = known.expires_at};
    }
    return std::nullopt;
}

tier_lesson::tier_lesson(const command& what) {
    std::visit([this](const auto& one) { read(one); }, what);
}

void tier_lesson::read(const commands::begin& what) {
    if (what.mismatch == on_mismatch::overwrite) {
        does_ = kind::forget;
        return;
    }
    does_ = kind::claim;
    entry_.content = what.content;
    entry_.grace = what.policy.grace;
}

void tier_lesson::read(const commands::complete& what) {
    does_ = kind::end;
    by_ = what.by;
    retention_ = what.retention;
    entry_.what = entry_kind::replay;
    entry_.result = what.result;
}

void tier_lesson::read(const commands::fail& what) {
    does_ = what.kind == commands::failure_kind::final ? kind::end : kind::forget;
    by_ = what.by;
    retention_ = what.retention;
    entry_.what = entry_kind::failed;
    entry_.error = what.error;
}

void tier_lesson::read(const commands::renew& what) {
    does_ = kind::prolong;
    by_ = what.by;
}

std::optional<front_command> tier_lesson::after(const result<reply>& got, const setting& with) && {
    // Perhaps applied. After a remove or an overwrite, no old entry may be seen. A running attempt
    // asks again, and its gate lapses by itself.
    if (!got) {
        const bool forgets = does_ == kind::forget && got.error().possible == effect::unknown;
        return forgets ? std::optional<front_command>{fronts::forget{}} : std::nullopt;
    }
    switch (does_) {
    case kind::nothing: return std::nullopt;
    case kind::forget:
        if (changed_nothing(got->said)) return std::nullopt;
        return fronts::forget{};
    case kind::end: return std::move(*this).after_end(*got, with);
    case kind::prolong:
        if (const auto* said = std::get_if<answers::renewed>(&got->said)) {
            return fronts::prolong{.by = by_,
                                   .lease_until = said->lease_until,
                                   .until = got->now + with.gate_life,
                                   .life = gate_life(with)};
        }
        return std::nullopt;
    case kind::claim: break;
    }
    if (!with.token) return std::nullopt;
    auto entry = std::move(*this).learnt(*got, with);
    if (!entry) return std::nullopt;
    const bool open = entry->what == entry_kind::gate || entry->what == entry_kind::rumour;
    const duration life = open ? gate_life(with) : life_until(entry->expires_at, got->now, with);
    return fronts::put{.token = *with.token, .entry = *std::move(entry), .life = life};
}

// From the answer to a begin.
std::optional<front_entry> tier_lesson::learnt(const reply& got, const setting& with) && {
    front_entry made = std::move(entry_);
    made.until = got.now + with.gate_life;
    if (const auto* said = std::get_if<answers::started>(&got.said)) {
        made.content = said->content;
        made.holder = said->by;
        made.attempt = said->attempt;
        made.lease_until = said->lease_until;
        return made;
    }
    made.grace = {};
    if (const auto* said = std::get_if<answers::in_progress>(&got.said)) {
        made.what = entry_kind::rumour;
        made.holder = said->holder;
        made.attempt = said->attempt;
        made.lease_until = said->retry_at;
        return made;
    }
    made.until = {};
    if (const auto* said = std::get_if<answers::replay>(&got.said)) {
        made.what = entry_kind::replay;
        made.holder.fence = said->fence;
        made.expires_at = said->expires_at;
        made.result = said->result;
        return made;
    }
    const auto* said = std::get_if<answers::failed>(&got.said);
    if (said == nullptr || said->state != record_state::failed_final) return std::nullopt;
    made.what = entry_kind::failed;
    made.attempt = said->attempts;
    made.expires_at = said->expires_at;
    made.error = said->error;
    return made;
}

std::optional<front_command> tier_lesson::after_end(const reply& got, const setting& with) && {
    const auto* const said = std::get_if<answers::stored>(&got.said);
    if (said == nullptr) return std::nullopt;
    // Any other expiry belongs to an earlier end of this attempt, whose words count.
    if (said->expires_at != got.now + retention_) return fronts::forget{};
    entry_.expires_at = said->expires_at;
    return fronts::settle{
        .by = by_, .end = std::move(entry_), .life = life_until(said->expires_at, got.now, with)};
}

} // namespace semel
