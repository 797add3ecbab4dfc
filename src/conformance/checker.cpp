#include "conformance/checker.hpp"

#include <algorithm>
#include <utility>

#include "conformance/same.hpp"
#include "conformance/text.hpp"

namespace semel::conformance {

namespace {

// One way in which the store may have come to its answer.
struct course {
    applied made;
    std::optional<record> before;
};

// The fence an answer has just issued, if any.
std::optional<std::uint64_t> issued(const answer& said) {
    if (const auto* one = std::get_if<answers::started>(&said)) return one->by.fence;
    if (const auto* one = std::get_if<answers::resolved>(&said)) return one->fence;
    return std::nullopt;
}

// The model does not know the store's fence floor, so it takes over the number the store chose;
// check_fence judges that number.
void adopt_fence(applied& made, std::uint64_t fence) {
    if (auto* one = std::get_if<answers::started>(&made.said)) one->by.fence = fence;
    if (auto* one = std::get_if<answers::resolved>(&made.said)) one->fence = fence;
    if (made.after && issued(made.said)) made.after->holder.fence = fence;
}

course predict(const std::optional<record>& before, const envelope& what, const answer& got) {
    course one{
        .made = apply(before ? &*before : nullptr, what.what, {.now = *what.now, .fence_floor = 0}),
        .before = before};
    if (const auto fence = issued(got)) adopt_fence(one.made, *fence);
    return one;
}

std::optional<record> outcome(course one) {
    switch (one.made.what) {
    case change::none: return std::move(one.before);
    case change::put: return std::move(one.made.after);
    case change::erase: break;
    }
    return std::nullopt;
}

bool purgeable(const std::optional<record>& it, time_point now) {
    return it && apply(&*it, commands::purge{}, {.now = now}).what == change::erase;
}

std::string detail_of(const command& what, const applied& made) {
    if (const auto* one = std::get_if<answers::started>(&made.said)) {
        constexpr std::string_view kinds[]{"first", "retried", "taken over", "overwritten"};
        return ", " + std::string{kinds[static_cast<std::size_t>(one->kind)]};
    }
    if (const auto* one = std::get_if<answers::fenced_off>(&made.said)) {
        return one->current ? ", something there" : ", nothing there";
    }
    if (const auto* one = std::get_if<answers::found>(&made.said)) {
        return one->current ? ", something" : ", nothing";
    }
    if (const auto* one = std::get_if<answers::failed>(&made.said)) {
        return one->state == record_state::failed_final ? ", final" : ", attempts used up";
    }
    if (std::holds_alternative<answers::resolved>(made.said)) {
        if (made.audit && made.audit->act.starts_with("correct")) return ", corrected";
        constexpr std::string_view verdicts[]{"committed", "not executed", "failed"};
        const auto index = std::get<commands::resolve>(what).verdict.index();
        return ", " + std::string{verdicts[index]};
    }
    const auto* const undo = std::get_if<commands::release>(&what);
    if (undo != nullptr && undo->replaced && std::holds_alternative<answers::stored>(made.said)) {
        return made.what == change::none ? ", undone before" : ", undone";
    }
    if (std::holds_alternative<answers::stored>(made.said)) {
        return made.what == change::none ? ", again" : ", now";
    }
    return {};
}

} // namespace

std::string text(const step& what) {
    if (const auto* one = std::get_if<envelope>(&what)) {
        return "at " + text(*one->now) + " " + text(one->id) + " " + text(one->what);
    }
    const auto& one = std::get<sweep_request>(what);
    return "at " + text(*one.now) + " sweep of " + std::to_string(one.records_max);
}

std::optional<std::string> checker::take(const step& what) {
    return std::visit([&](const auto& one) { return run(one); }, what);
}

std::optional<std::string> checker::run(const envelope& what) {
    const auto got = store_.call(what.id, what.what, what.now);
    if (!got) return "the store failed: " + describe(got.error());
    if (got->now != *what.now) return "the answer's time is " + text(got->now);

    known& it = records_[what.id];
    const auto fence = issued(got->said);
    if (fence) {
        if (auto wrong = check_fence(it, *fence, *what.now)) return wrong;
        it.last_fence = *fence;
        highest_fence_ = std::max(highest_fence_, *fence);
    }
    if (auto wrong = compare(it, what, got->said)) return wrong;
    if (const auto* one = std::get_if<answers::started>(&got->said)) {
        it.claims.push_back(one->by);
        it.undo = {.by = one->by, .replaced = one->replaced};
    }
    if (subject_.purges == purging::in_passing) may_have_purged(*what.now);
    return std::nullopt;
}

std::optional<std::string> checker::compare(known& it, const envelope& what, const answer& got) {
    std::vector<std::optional<record>> next;
    std::string expected;
    for (const auto& before : it.possible) {
        course one = predict(before, what, got);
        if (!same(one.made.said, got)) {
            expected += "\n  expected: " + text(one.made.said);
            continue;
        }
        if (next.empty()) {
            ++seen_[std::string{name(what.what)} + ": " + std::string{name(got)} +
                    detail_of(what.what, one.made)];
            if (one.made.audit) it.audit.push_back(*one.made.audit);
        }
        auto after = outcome(std::move(one));
        if (std::find(next.begin(), next.end(), after) == next.end()) {
            next.push_back(std::move(after));
        }
    }
    if (next.empty()) return "another answer" + expected + "\n  answered: " + text(got);
    it.possible = std::move(next);
    return std::nullopt;
}

std::optional<std::string> checker::run(const sweep_request& what) {
    const auto got = store_.sweep(what);
    if (!got) return "the sweep failed: " + describe(got.error());
    if (got->removed > what.records_max) return "the sweep removed more than it was asked to";
    const auto can_go = static_cast<std::size_t>(
        std::count_if(records_.begin(), records_.end(), [&](const auto& one) {
            const auto& all = one.second.possible;
            return std::any_of(all.begin(), all.end(),
                               [&](const auto& it) { return purgeable(it, *what.now); });
        }));
    if (got->removed > can_go) {
        return "the sweep removed " + std::to_string(got->removed) + " records where only " +
               std::to_string(can_go) + " may go";
    }
    ++seen_[got->removed > 0 ? "sweep: removed" : "sweep: kept"];
    may_have_purged(*what.now);
    return std::nullopt;
}

std::optional<std::string> checker::check_fence(const known& it, std::uint64_t fence,
                                                time_point now) const {
    const auto clock = static_cast<std::uint64_t>(now.time_since_epoch().count());
    if (fence <= it.last_fence) {
        return "fence " + std::to_string(fence) + " is not above this record's last one, " +
               std::to_string(it.last_fence);
    }
    if (fence < clock) return "fence " + std::to_string(fence) + " is below the store's clock";
    if (subject_.numbers == fences::exact && fence > std::max(clock, highest_fence_ + 1)) {
        return "fence " + std::to_string(fence) + " is above the clock and all fences so far, " +
               std::to_string(highest_fence_);
    }
    return std::nullopt;
}

void checker::may_have_purged(time_point now) {
    for (auto& [id, it] : records_) {
        auto& all = it.possible;
        const bool goes = std::any_of(all.begin(), all.end(),
                                      [&](const auto& one) { return purgeable(one, now); });
        if (goes && std::find(all.begin(), all.end(), std::nullopt) == all.end()) {
            all.emplace_back(std::nullopt);
        }
    }
}

std::optional<std::string> checker::compare_audits() {
    for (const auto& [id, it] : records_) {
        const auto got = store_.audit(id);
        if (!got) return "audit of " + text(id) + " failed: " + describe(got.error());
        if (*got == it.audit) continue;
        std::string why = "audit of " + text(id) + " differs:";
        for (const auto& one : it.audit) why += "\n  expected: " + text(one);
        for (const auto& one : *got) why += "\n  answered: " + text(one);
        return why;
    }
    return std::nullopt;
}

} // namespace semel::conformance
