#include "stores/postgres/rounds.hpp"

#include <algorithm>

#include "core/audit_code.hpp"
#include "semel/assert.hpp"
#include "stores/postgres/row.hpp"

namespace semel::postgres {

namespace {

// Columns of `load`.
constexpr int row_column = 0;
constexpr int now_column = 1;
constexpr int floor_column = 2;
constexpr int version_column = 3;
constexpr int record_column = 4;

void add_now(column_group& to, const std::optional<time_point>& now) {
    if (now) {
        to.add(*now);
    } else {
        to.add_null();
    }
}

column_group& add_claim(batch_call& to, pending& one, const claim& by) {
    column_group& group = to.add(one);
    add_id(group, one.of->id);
    add_now(group, one.of->now);
    return group.add(by.fence).add(by.owner);
}

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

} // namespace

batch_call::batch_call(const batch_statement& of) : what(of) {
    for (const auto& types : of.groups) groups.emplace_back(types);
}

void batch_call::clear() {
    for (auto& one : groups) one.clear();
    who.clear();
}

call batch_call::make() {
    call made{.name = what.name, .values = {}};
    for (auto& group : groups) {
        for (auto& one : group.columns()) made.values.push_back(one.bytes());
    }
    return made;
}

rounds::rounds(const statement_texts& texts, store_counters& counters)
    : texts_(texts),
      counters_(counters),
      insert_(texts.insert),
      complete_(texts.complete),
      complete_there_(texts.complete_there),
      fail_(texts.fail),
      renew_(texts.renew),
      load_(texts.load),
      load_rest_(texts.load_rest),
      save_(texts.save),
      erase_(texts.erase) {}

result<void> rounds::go(connection& on, std::span<pending* const> group, haste how,
                        local_time deadline) {
    clear();
    for (pending* one : group) send(*one);
    const auto all = calls(how);
    counters_.round_trips.add();
    auto got = on.pipeline(all, deadline);
    if (!got) return std::move(got).error();
    take(std::span<const rows>{*got}.subspan(how == haste::impatient ? 1 : 0));
    if (writes_ > 0) {
        counters_.commits.add();
        counters_.record_writes.add(writes_);
    }
    return {};
}

// ---- sending ------------------------------------------------------------------------------------

void rounds::clear() {
    for (auto* one : {&insert_, &complete_, &complete_there_, &fail_, &renew_, &load_, &load_rest_,
                      &save_, &erase_}) {
        one->clear();
    }
    started_.clear();
    highest_erased_ = 0;
    writes_ = 0;
}

void rounds::send(pending& one) {
    if (one.next == need::nothing) return;
    if (one.next == need::save) return send_save(one);
    const command& what = one.of->what;
    const bool first = one.next == need::first_try;
    if (const auto* it = std::get_if<commands::begin>(&what); it != nullptr && first) {
        send_begin(one, *it);
    } else if (const auto* done = std::get_if<commands::complete>(&what);
               done != nullptr && (first || one.next == need::by_key)) {
        send_complete(one, *done);
    } else if (const auto* failed = std::get_if<commands::fail>(&what);
               failed != nullptr && first) {
        send_fail(one, *failed);
    } else if (const auto* kept = std::get_if<commands::renew>(&what); kept != nullptr && first) {
        send_renew(one, *kept);
    } else {
        send_look(load_, one);
    }
}

// Claims the key if it is new. The look that rides along answers it if it is not: as a statement of
// its own it sees what others have committed while the first one waited for them.
void rounds::send_begin(pending& one, const commands::begin& what) {
    column_group& group = insert_.add(one);
    add_id(group, one.of->id);
    add_now(group, one.of->now);
    group.add(what.owner).add(what.lease);
    group.add(static_cast<std::int64_t>(what.policy.on_lease_expiry));
    group.add(std::int64_t{what.policy.attempts_max});
    group.add(what.policy.grace).add(what.policy.processing_max);
    if (what.content) {
        group.add(what.content->as_string_view());
    } else {
        group.add_null();
    }
    group.add(std::string_view{what.attributes});
    send_look(load_rest_, one);
}

void rounds::send_complete(pending& one, const commands::complete& what) {
    const std::string_view place =
        one.next == need::first_try ? places_.take(what.by) : std::string_view{};
    column_group& group = add_claim(place.empty() ? complete_ : complete_there_, one, what.by)
                              .add(what.retention)
                              .add(static_cast<std::int64_t>(what.result.kind))
                              .add(what.result.checksum)
                              .add(std::string_view{what.result.type})
                              .add(std::string_view{what.result.ref})
                              .add(std::string_view{what.result.body});
    if (!place.empty()) group.add(place);
}

void rounds::send_fail(pending& one, const commands::fail& what) {
    const auto state = what.kind == commands::failure_kind::final ? record_state::failed_final
                                                                  : record_state::failed_retryable;
    add_claim(fail_, one, what.by)
        .add(static_cast<std::int64_t>(state))
        .add(what.retention)
        .add(what.retry_after)
        .add(std::string_view{what.error});
}

void rounds::send_renew(pending& one, const commands::renew& what) {
    add_claim(renew_, one, what.by).add(what.lease);
}

void rounds::send_look(batch_call& with, pending& one) {
    column_group& group = with.add(one);
    add_id(group, one.of->id);
    add_now(group, one.of->now);
}

void rounds::send_save(pending& one) {
    const judgement& it = *one.judged;
    const bool erases = it.made.what == change::erase;
    batch_call& to = erases ? erase_ : save_;
    column_group& group = to.add(one);
    add_id(group, one.of->id);
    group.add_version(it.version);
    if (erases) {
        highest_erased_ = std::max(highest_erased_, it.before.holder.fence);
    } else {
        const auto& now = it.made.after->checkpoints;
        const auto& old = it.before.checkpoints;
        // apply() either adds checkpoints or drops them all.
        const bool forgets = now.size() < old.size();
        SEMEL_ASSERT(!forgets || now.empty());
        group.add(std::int64_t{forgets ? 1 : 0});
        add_record(group, *it.made.after);
        for (std::size_t i = old.size(); i < now.size(); ++i) {
            to.groups[1].add(static_cast<std::int64_t>(to.who.size()));
            to.groups[1].add(static_cast<std::int64_t>(i));
            to.groups[1].add(std::string_view{now[i].name}).add(std::string_view{now[i].data});
        }
    }
    if (it.made.audit) send_audit(to);
}

void rounds::send_audit(batch_call& to) {
    const audit_entry& it = *to.who.back()->judged->made.audit;
    column_group& group = to.groups.back();
    group.add(static_cast<std::int64_t>(to.who.size())).add(it.at);
    group.add(std::string_view{it.act}).add(std::string_view{it.actor});
    group.add(std::string_view{it.reason}).add(it.fence);
    group.add(audit_code(it.from)).add(audit_code(it.to));
}

std::vector<call> rounds::calls(haste how) {
    std::vector<call> made;
    if (how == haste::impatient) made.push_back({texts_.impatient.name, {}});
    for (auto* one : {&complete_, &complete_there_, &fail_, &renew_, &save_, &erase_, &insert_,
                      &load_rest_, &load_}) {
        if (one->who.empty()) continue;
        if (one == &erase_) {
            floor_bytes_ = big_endian(static_cast<std::int64_t>(highest_erased_));
            made.push_back({texts_.raise_floor.name, {{floor_bytes_.data(), floor_bytes_.size()}}});
        }
        made.push_back(one->make());
    }
    return made;
}

// ---- taking -------------------------------------------------------------------------------------

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
    // Somebody was faster: look again.
    for (pending* one : of.who) {
        if (one->next == need::nothing) continue;
        one->next = need::look;
        one->judged.reset();
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
        places_.remember(by, got.bytes(row, 5), what.lease);
        ++writes_;
    }
}

void rounds::take_looked(const rows& got) {
    for (int row = 0; row < got.count(); ++row) judge(who(load_, got, row), got, row);
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
            judge(one, got, shown[at]);
            continue;
        }
        const auto& what = std::get<commands::begin>(one.of->what);
        // The insert has read the floor before it waited for somebody who removed this record.
        const bool too_low =
            shown[at] >= 0 && started->by.fence <= number(got, shown[at], floor_column);
        if (too_low) {
            raise_fence(*started, got, shown[at]);
        } else {
            answer(one, reply{.said = answers::started{.by = started->by,
                                                       .kind = answers::start_kind::first,
                                                       .attempt = 1,
                                                       .lease_until = started->now + what.lease,
                                                       .content = what.content,
                                                       .checkpoints = {}},
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
