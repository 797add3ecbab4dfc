#include "databases/postgres/store/rounds.hpp"

#include <algorithm>

#include "core/audit_code.hpp"
#include "databases/postgres/store/row.hpp"
#include "semel/base/result.hpp"

namespace semel::postgres {

namespace {

void add_now(column_group& to, const std::optional<time_point>& now) {
    if (now) {
        to.add(*now);
    } else {
        to.add_null();
    }
}

void add_claimed(column_group& to, const commands::begin& what) {
    to.add(what.owner).add(what.lease);
    to.add(static_cast<std::int64_t>(what.policy.on_lease_expiry));
    to.add(std::int64_t{what.policy.attempts_max});
    to.add(what.policy.grace).add(what.policy.processing_max);
    if (what.content) {
        to.add(what.content->as_string_view());
    } else {
        to.add_null();
    }
    to.add_unless_empty(what.attributes);
}

column_group& add_claim(batch_call& to, pending& one, const claim& by) {
    column_group& group = to.add(one);
    add_id(group, one.of->id);
    add_now(group, one.of->now);
    return group.add(by.fence).add(by.owner);
}

bool is_begin(const pending& one) {
    return one.next == need::first_try && std::holds_alternative<commands::begin>(one.of->what);
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
      insert_new_(texts.insert_new),
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
    expects_ = expect_of(group);
    for (pending* one : group) send(*one);
    const auto all = calls(how);
    counters_.round_trips.add();
    auto got = on.pipeline(all, deadline);
    if (!got) {
        // Most likely one of the keys is not new. Nothing was done, and with care it will be found.
        const failure& why = got.error();
        const bool mistaken = expects_ == expected::new_keys && why.possible == effect::none &&
                              why.code != errc::timed_out && !on.lost();
        begins_.forget();
        return mistaken ? go(on, group, how, deadline) : result<void>{why};
    }
    take(std::span<const rows>{*got}.subspan(how == haste::impatient ? 1 : 0));
    if (writes_ > 0) {
        counters_.commits.add();
        counters_.record_writes.add(writes_);
    }
    return {};
}

// A look behind every insert, and a way round keys that are there, cost as much as the insert; and
// an insert that finds its key taken costs more than the look.
expected rounds::expect_of(std::span<pending* const> group) const {
    const bool given_time = std::any_of(group.begin(), group.end(), [](const pending* one) {
        return is_begin(*one) && one->of->now;
    });
    return given_time ? expected::anything : begins_.next();
}

// ---- sending ------------------------------------------------------------------------------------

void rounds::clear() {
    for (auto* one : {&insert_, &insert_new_, &complete_, &complete_there_, &fail_, &renew_, &load_,
                      &load_rest_, &save_, &erase_}) {
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
        switch (expects_) {
        case expected::anything: return send_begin(one, *it);
        case expected::new_keys: return send_new(one, *it);
        case expected::records: return send_look(load_, one);
        }
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
    add_claimed(group, what);
    send_look(load_rest_, one);
}

void rounds::send_new(pending& one, const commands::begin& what) {
    column_group& group = insert_new_.add(one);
    add_id(group, one.of->id);
    add_claimed(group, what);
}

void rounds::send_complete(pending& one, const commands::complete& what) {
    const std::string_view place = one.next == need::first_try
                                       ? places_.take(what.by, local_clock::now())
                                       : std::string_view{};
    column_group& group = add_claim(place.empty() ? complete_ : complete_there_, one, what.by)
                              .add(what.retention)
                              .add(static_cast<std::int64_t>(what.result.kind))
                              .add(what.result.checksum)
                              .add_unless_empty(what.result.type)
                              .add_unless_empty(what.result.ref)
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
    for (auto* one : {&complete_, &complete_there_, &fail_, &renew_, &save_, &erase_, &insert_new_,
                      &insert_, &load_rest_, &load_}) {
        if (one->who.empty()) continue;
        if (one == &erase_) {
            floor_bytes_ = big_endian(static_cast<std::int64_t>(highest_erased_));
            made.push_back({texts_.raise_floor.name, {{floor_bytes_.data(), floor_bytes_.size()}}});
        }
        made.push_back(one->make());
        if (one == &insert_new_) made.push_back({texts_.past_floor.name, {}});
    }
    return made;
}

} // namespace semel::postgres
