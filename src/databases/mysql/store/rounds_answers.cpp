// Reads the server's answers to a round, and decides about each command.
#include "databases/mysql/store/rounds.hpp"

#include <algorithm>
#include <compare>

#include "databases/mysql/store/row.hpp"
#include "semel/base/result.hpp"

namespace semel::mysql {

namespace {

void answer(pending& one, result<reply> with) {
    one.of->answer = std::move(with);
    one.next = need::nothing;
    one.judged.reset();
}

duration retention_of(const command& what) {
    if (const auto* one = std::get_if<commands::complete>(&what)) return one->retention;
    return std::get<commands::fail>(what).retention;
}

struct id_view {
    std::string_view tenant;
    std::string_view operation;
    std::string_view key;

    friend auto operator<=>(const id_view&, const id_view&) = default;
};

id_view view(const record_id& id) {
    return {id.tenant, id.operation, id.key};
}

} // namespace

// The rows of the look and of the inserts, if there were any, and the times.
void rounds::take(std::span<rows> got, const tally& last) {
    if (way_ == way::only_look) return take_expected(got.front());
    if (way_ == way::one_new) return take_begun(got.front());
    if (way_ == way::one_complete) {
        now_ = time_point{duration{last.last_id}};
        writes_ = last.found;
        return take_settled(complete_, writes_);
    }
    take_times(got.back());
    got = got.first(got.size() - 1);
    if (got.size() > 1) take_inserted(got[1]);
    if (!got.empty()) {
        take_looked(got[0]);
    } else {
        for (pending* one : insert_.who) answer_started(*one);
        writes_ += insert_.who.size();
    }
    if (insert_.who.empty()) return;
    const auto fresh = std::count_if(insert_.who.begin(), insert_.who.end(),
                                     [](const pending* one) { return one->is_new; });
    remember_begins(got.empty() || 2 * static_cast<std::size_t>(fresh) >= insert_.who.size());
}

void rounds::remember_begins(bool mostly_new) {
    in_a_row_ = mostly_new == mostly_new_ ? std::min(in_a_row_ + 1, enough_in_a_row) : 0;
    mostly_new_ = mostly_new;
}

// Begins that were taken for repeats.
void rounds::take_expected(rows& got) {
    take_looked(got);
    const auto fresh = std::count_if(load_.who.begin(), load_.who.end(), [](const pending* one) {
        return one->next == need::first_try;
    });
    if (fresh == 0) return;
    mostly_new_ = 2 * static_cast<std::size_t>(fresh) >= load_.who.size();
    in_a_row_ = 0;
}

// One that was taken for new. The time and the floor, if it was.
void rounds::take_begun(rows& got) {
    pending& one = *insert_.who.front();
    const bool is_new = got.next();
    remember_begins(is_new);
    if (!is_new) {
        one.next = need::look;
        return;
    }
    now_ = got.time(0);
    floor_ = std::max(floor_, static_cast<std::uint64_t>(got.integer(1)));
    writes_ = 1;
    answer_started(one);
}

void rounds::take_times(rows& got) {
    SEMEL_ASSERT(got.next());
    now_ = got.time(0);
    if (!got.is_null(1)) {
        floor_ = std::max(floor_, static_cast<std::uint64_t>(got.integer(1)));
    }
    floor_ = std::max(floor_, highest_erased_);
    int column = 2;
    for (const auto& one : counted_) {
        take_found(one, static_cast<std::uint64_t>(got.integer(column++)));
    }
}

void rounds::take_found(const counted& it, std::uint64_t found) {
    writes_ += found;
    if (it.saved != nullptr) return take_saved(*it.saved, found);
    if (it.of != &renew_) return take_settled(*it.of, found);
    // The look returns the new end of each lease.
    for (pending* one : renew_.who) one->renewed = found == renew_.who.size();
}

time_point rounds::now_of(const pending& one) const {
    return one.of->now.value_or(now_);
}

// As the statement has worked it out.
std::uint64_t rounds::fence_of(const pending& one) const {
    const auto now = std::max<duration::rep>(0, now_of(one).time_since_epoch().count());
    return std::max(static_cast<std::uint64_t>(now), sent_floor_ + 1);
}

// Its place in insert_, or beyond.
std::size_t rounds::place_of_new(std::int64_t version) const {
    return static_cast<std::size_t>(version - first_version_);
}

// The statement returns how many rows it found, but not which. If a row is missing, all commands
// look again: apply() recognises a completion that the same claim has stored before.
void rounds::take_settled(const batch& of, std::uint64_t found) {
    const bool all = found == of.who.size();
    for (pending* one : of.who) {
        one->next = need::look;
        if (!all) continue;
        const time_point now = now_of(*one);
        answer(*one, reply{.said = answers::stored{.expires_at = now + retention_of(one->of->what)},
                           .now = now});
    }
}

void rounds::take_saved(pending& one, std::uint64_t found) {
    if (found == 0) {
        // Another writer was faster: look again.
        one.next = need::look;
        one.judged.reset();
        return;
    }
    judgement& it = *one.judged;
    answer(one, reply{.said = std::move(it.made.said), .now = it.now});
}

void rounds::take_inserted(rows& got) {
    while (got.next()) {
        insert_.who[place_of_new(got.integer(0))]->is_new = true;
        ++writes_;
    }
}

void rounds::take_looked(rows& got) {
    std::vector<sighting> seen(load_.who.size());
    while (got.next()) {
        const id_view id{got.bytes(loaded::tenant), got.bytes(loaded::tenant + 1),
                         got.bytes(loaded::tenant + 2)};
        const auto whose = std::lower_bound(
            load_.who.begin(), load_.who.end(), id,
            [](const pending* one, const id_view& two) { return view(one->of->id) < two; });
        SEMEL_ASSERT(whose != load_.who.end() && view((*whose)->of->id) == id);
        take_row(**whose, got, seen[static_cast<std::size_t>(whose - load_.who.begin())]);
    }
    for (std::size_t i = 0; i < seen.size(); ++i) {
        pending& one = *load_.who[i];
        if (one.is_new) {
            answer_started(one);
        } else if (seen[i].row) {
            take_record(one, std::move(seen[i]));
        } else {
            judge(one, std::make_unique<judgement>(), nullptr);
        }
    }
}

// A record with many checkpoints has as many rows.
void rounds::take_row(pending& one, const rows& got, sighting& to) {
    // What was there has been removed since, and the key was free.
    if (one.is_new) return;
    if (way_ == way::only_look) now_ = got.time(loaded::now);
    if (!to.row) {
        to.version = got.integer(loaded::version);
        if (place_of_new(to.version) < insert_.who.size()) {
            one.is_new = true;
            ++writes_;
            return;
        }
        to.row = read_record_row(got, loaded::record);
    }
    if (*to.row) read_checkpoint(got, loaded::checkpoint, **to.row);
}

void rounds::take_record(pending& one, sighting&& seen) {
    if (!*seen.row) return answer(one, std::move(*seen.row).error());
    if (!one.wants_checkpoints && (*seen.row)->checkpoints > 0) {
        one.wants_checkpoints = true;
        one.next = need::look;
        return;
    }
    const std::int64_t version = seen.version;
    auto read = whole_record(**std::move(seen.row));
    if (!read) return answer(one, std::move(read).error());
    if (one.renewed) {
        return answer(one, reply{.said = answers::renewed{.lease_until = read->lease_until},
                                 .now = now_of(one)});
    }
    auto it = std::make_unique<judgement>();
    it->before = *std::move(read);
    it->version = version;
    if (version == one.too_low) return raise_fence(one, std::move(it));
    const record* const before = &it->before;
    judge(one, std::move(it), before);
}

void rounds::answer_started(pending& one) {
    const auto& what = std::get<commands::begin>(one.of->what);
    // Others have removed records, and the floor is higher than was known here.
    if (fence_of(one) <= floor_) {
        const auto place = std::find(insert_.who.begin(), insert_.who.end(), &one);
        one.too_low = first_version_ + (place - insert_.who.begin());
        one.next = need::look;
        return;
    }
    const time_point now = now_of(one);
    answer(one, reply{.said = answers::started{.by = {.fence = fence_of(one), .owner = what.owner},
                                               .kind = answers::start_kind::first,
                                               .attempt = 1,
                                               .lease_until = now + what.lease,
                                               .content = what.content,
                                               .checkpoints = {}},
                      .now = now});
}

void rounds::judge(pending& one, std::unique_ptr<judgement> it, const record* before) {
    it->now = now_of(one);
    it->made = apply(before, one.of->what, {.now = it->now, .fence_floor = floor_});
    if (it->made.what == change::none) {
        return answer(one, reply{.said = std::move(it->made.said), .now = it->now});
    }
    // A begin that found the key taken, and the record gone when it looked, or not yet there.
    if (before == nullptr) {
        one.next = need::first_try;
        return;
    }
    one.next = need::save;
    one.judged = std::move(it);
}

void rounds::raise_fence(pending& one, std::unique_ptr<judgement> it) {
    it->now = it->before.begun_at;
    record after = it->before;
    after.holder.fence = std::max(after.holder.fence, floor_ + 1);
    it->made = {.what = change::put,
                .after = after,
                .said = answers::started{.by = after.holder,
                                         .kind = answers::start_kind::first,
                                         .attempt = 1,
                                         .lease_until = after.lease_until,
                                         .content = after.content,
                                         .checkpoints = {}},
                .audit = {}};
    one.next = need::save;
    one.judged = std::move(it);
}

} // namespace semel::mysql
