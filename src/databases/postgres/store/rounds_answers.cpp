#include <algorithm>

#include "databases/postgres/store/rounds.hpp"
#include "databases/postgres/store/row.hpp"
#include "semel/base/result.hpp"

namespace semel::postgres {

namespace {

// Columns of `load`.
constexpr int row_column = 0;
constexpr int now_column = 1;
constexpr int floor_column = 2;
constexpr int version_column = 3;
constexpr int record_column = 4;

std::uint64_t number(const rows& got, int row, int column) {
    return static_cast<std::uint64_t>(got.integer(row, column));
}

void answer(pending& one, result<reply> with) {
    one.of->answer = std::move(with);
    one.next = need::nothing;
    one.judged.reset();
}

pending& who(const batch_call& of, const rows& got, int row) {
    return *of.who[static_cast<std::size_t>(got.integer(row, row_column) - 1)];
}

bool names(const rows& got, int row, const record_id& id) {
    return got.bytes(row, 2) == id.key && got.bytes(row, 1) == id.operation &&
           got.bytes(row, 0) == id.tenant;
}

duration retention_of(const command& what) {
    if (const auto* one = std::get_if<commands::complete>(&what)) return one->retention;
    return std::get<commands::fail>(what).retention;
}

answers::started first_start(const commands::begin& what, const claim& by, time_point now) {
    return {.by = by,
            .kind = answers::start_kind::first,
            .attempt = 1,
            .lease_until = now + what.lease,
            .content = what.content,
            .checkpoints = {}};
}

} // namespace

void rounds::take(std::span<const rows> got) {
    std::size_t at = 0;
    const auto next = [&]() -> const rows& { return got[at++]; };
    if (!complete_.who.empty()) take_settled(complete_, next(), need::look);
    if (!complete_there_.who.empty()) take_settled(complete_there_, next(), need::by_key);
    if (!fail_.who.empty()) take_settled(fail_, next(), need::look);
    if (!renew_.who.empty()) take_renewed(next());
    if (!save_.who.empty()) take_written(save_, next());
    if (!erase_.who.empty()) {
        ++at; // the floor
        take_written(erase_, next());
    }
    if (!insert_new_.who.empty()) {
        take_new(next());
        ++at; // the floor
    }
    if (!insert_.who.empty()) {
        take_inserted(next());
        take_rest(next());
    }
    if (!load_.who.empty()) take_looked(next());
    SEMEL_ASSERT(at == got.size());
}

void rounds::take_settled(const batch_call& of, const rows& got, need otherwise) {
    for (pending* one : of.who) one->next = otherwise;
    for (int row = 0; row < got.count(); ++row) {
        pending& one = who(of, got, row);
        const time_point now = got.time(row, 1);
        answer(one, reply{.said = answers::stored{.expires_at = now + retention_of(one.of->what)},
                          .now = now});
        ++writes_;
    }
}

void rounds::take_renewed(const rows& got) {
    for (pending* one : renew_.who) one->next = need::look;
    for (int row = 0; row < got.count(); ++row) {
        answer(who(renew_, got, row),
               reply{.said = answers::renewed{.lease_until = got.time(row, 2)},
                     .now = got.time(row, 1)});
        ++writes_;
    }
}

void rounds::take_written(const batch_call& of, const rows& got) {
    for (int row = 0; row < got.count(); ++row) {
        pending& one = who(of, got, row);
        judgement& it = *one.judged;
        answer(one, reply{.said = std::move(it.made.said), .now = it.now});
        ++writes_;
    }
    // Another writer was faster: look again.
    for (pending* one : of.who) {
        if (one->next == need::nothing) continue;
        one->next = need::look;
        one->judged.reset();
    }
}

// Rows come in the order of the batch.
void rounds::take_new(const rows& got) {
    SEMEL_ASSERT(static_cast<std::size_t>(got.count()) == insert_new_.who.size());
    for (int row = 0; row < got.count(); ++row) {
        pending& one = *insert_new_.who[static_cast<std::size_t>(row)];
        const auto& what = std::get<commands::begin>(one.of->what);
        SEMEL_ASSERT(read_owner(got.bytes(row, 0)) == what.owner);
        const claim by{.fence = number(got, row, 1), .owner = what.owner};
        const time_point now = got.time(row, 1);
        places_.remember(by, got.bytes(row, 2), what.lease, local_clock::now());
        answer(one, reply{.said = first_start(what, by, now), .now = now});
        ++writes_;
    }
}

// Rows come in the order of the batch, without those that were there already.
void rounds::take_inserted(const rows& got) {
    std::size_t at = 0;
    for (int row = 0; row < got.count(); ++row, ++at) {
        while (!names(got, row, insert_.who[at]->of->id)) ++at;
        pending& one = *insert_.who[at];
        const auto& what = std::get<commands::begin>(one.of->what);
        const claim by{.fence = number(got, row, 3), .owner = what.owner};
        started_.push_back({.who = &one, .by = by, .now = got.time(row, 4)});
        places_.remember(by, got.bytes(row, 5), what.lease, local_clock::now());
        ++writes_;
    }
}

void rounds::take_looked(const rows& got) {
    for (int row = 0; row < got.count(); ++row) {
        pending& one = who(load_, got, row);
        const bool begins = std::holds_alternative<commands::begin>(one.of->what);
        if (begins && got.is_null(row, version_column)) begins_.forget();
        judge(one, got, row);
    }
}

void rounds::take_rest(const rows& got) {
    std::vector<int> shown(load_rest_.who.size(), -1);
    for (int row = 0; row < got.count(); ++row) {
        shown[static_cast<std::size_t>(got.integer(row, row_column) - 1)] = row;
    }
    auto started = started_.begin();
    for (std::size_t at = 0; at < shown.size(); ++at) {
        pending& one = *load_rest_.who[at];
        const bool is_new = started != started_.end() && started->who == &one;
        if (!is_new) {
            begins_.add(expected::records);
            judge(one, got, shown[at]);
            continue;
        }
        begins_.add(expected::new_keys);
        const auto& what = std::get<commands::begin>(one.of->what);
        // The insert has read the floor before it waited for a transaction that removed this
        // record.
        const bool too_low =
            shown[at] >= 0 && started->by.fence <= number(got, shown[at], floor_column);
        if (too_low) {
            raise_fence(*started, got, shown[at]);
        } else {
            answer(one, reply{.said = first_start(what, started->by, started->now),
                              .now = started->now});
        }
        ++started;
    }
}

void rounds::judge(pending& one, const rows& got, int row) {
    SEMEL_ASSERT(row >= 0);
    const instant at{.now = got.time(row, now_column),
                     .fence_floor = number(got, row, floor_column)};
    auto it = std::make_unique<judgement>();
    it->now = at.now;
    const bool there = !got.is_null(row, version_column);
    if (there) {
        auto read = read_record(got, row, record_column);
        if (!read) return answer(one, std::move(read).error());
        it->before = *std::move(read);
        it->version = static_cast<std::uint32_t>(got.integer(row, version_column));
    }
    it->made = apply(there ? &it->before : nullptr, one.of->what, at);
    if (it->made.what == change::none) {
        return answer(one, reply{.said = std::move(it->made.said), .now = at.now});
    }
    // A begin that found the key taken, and the record gone when it looked.
    if (!there) {
        one.next = need::first_try;
        return;
    }
    one.next = need::save;
    one.judged = std::move(it);
}

void rounds::raise_fence(const started_row& started, const rows& got, int row) {
    pending& one = *started.who;
    auto read = read_record(got, row, record_column);
    if (!read) return answer(one, std::move(read).error());
    auto it = std::make_unique<judgement>();
    it->before = *std::move(read);
    it->version = static_cast<std::uint32_t>(got.integer(row, version_column));
    it->now = started.now;
    record after = it->before;
    after.holder.fence = number(got, row, floor_column) + 1;
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

} // namespace semel::postgres
