#include "databases/mysql/store/backend.hpp"

#include <algorithm>
#include <iterator>
#include <new>

#include "core/audit_code.hpp"
#include "databases/mysql/store/row.hpp"

namespace semel::mysql {

namespace {

// How often a command may lose the race against other writers.
constexpr int turns_max = 8;
constexpr int deadlocks_max = 3;
// Into how many parts a failed batch is split: few enough that the innocent share their commits.
constexpr std::size_t parts = 8;
constexpr duration locked_memory = std::chrono::milliseconds{250};
constexpr std::size_t locked_max = 1'024;
constexpr duration brief_wait = std::chrono::milliseconds{5};

bool unanswered(const pending* one) {
    return one->next != need::nothing;
}

bool any_unanswered(std::span<pending* const> group) {
    return std::any_of(group.begin(), group.end(), unanswered);
}

// Whether the step that is due may change the record; the others only look at it.
bool writes(const pending& one) {
    if (one.next == need::save) return true;
    const command& what = one.of->what;
    return one.next == need::first_try && (std::holds_alternative<commands::begin>(what) ||
                                           std::holds_alternative<commands::complete>(what) ||
                                           std::holds_alternative<commands::fail>(what) ||
                                           std::holds_alternative<commands::renew>(what));
}

void fail(pending& one, failure why) {
    if (!writes(one)) why.possible = effect::none;
    one.of->answer = std::move(why);
    one.next = need::nothing;
}

void fail_all(std::span<pending* const> group, const failure& why) {
    for (pending* one : group) {
        if (unanswered(one)) fail(*one, why);
    }
}

failure too_late() {
    return failure_of(
        {.number = number::statement_timeout, .message = "not executed by the deadline"},
        ending::rolled_back);
}

failure out_of_memory() {
    return {.code = errc::no_space,
            .possible = effect::unknown,
            .detail = "mysql: this process is out of memory"};
}

failure outrun() {
    return {.code = errc::conflict,
            .possible = effect::none,
            .detail = "mysql: others kept changing this record"};
}

// Nothing has happened, and the next time it may.
bool stood_in_the_way(const failure& why) {
    return why.possible == effect::none &&
           (why.code == errc::conflict || why.code == errc::timed_out);
}

void look_first(std::span<pending* const> group) {
    for (pending* one : group) {
        const bool begins = std::holds_alternative<commands::begin>(one->of->what);
        if (begins && one->next == need::first_try) one->next = need::look;
    }
}

// A command that has used up its rounds is answered. The others go on.
void count_turns(std::span<pending* const> group) {
    for (pending* one : group) {
        if (unanswered(one) && ++one->turns >= turns_max) fail(*one, outrun());
    }
}

} // namespace

result<std::unique_ptr<backend>> backend::open(const session_options& options,
                                               store_counters& counters) {
    std::unique_ptr<backend> made{new backend{options, counters}};
    if (auto ready = made->session_.open(); !ready) return std::move(ready).error();
    return made;
}

void backend::execute(std::span<job* const> batch) {
    counters_.count_batch(batch.size());
    const local_time deadline = local_clock::now() + options_.to.answer_timeout;
    std::vector<pending> all(batch.size());
    std::vector<pending*> usual;
    std::vector<pending*> locked;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        all[i].of = batch[i];
        if (auto fits = check_size(batch[i]->id); !fits) {
            batch[i]->answer = std::move(fits).error();
            continue;
        }
        (is_locked(*batch[i]) ? locked : usual).push_back(&all[i]);
    }
    try {
        if (!usual.empty()) run(usual, haste::first, deadline);
        for (pending* const& one : locked) run({&one, 1}, haste::brief, deadline);
    } catch (const std::bad_alloc&) {
        // In the middle of anything; the connection goes with it.
        session_.drop();
        fail_all(usual, out_of_memory());
        fail_all(locked, out_of_memory());
    } catch (...) {
        session_.drop();
        throw;
    }
}

void backend::run(std::span<pending* const> group, haste how, local_time deadline) {
    while (any_unanswered(group)) {
        if (local_clock::now() >= deadline) return fail_all(group, too_late());
        const auto on = session_.get();
        if (!on) return fail_all(group, on.error());
        const auto done = go(**on, group, how, deadline);
        if (!done && recover(group, how, done.error(), deadline) == course::answered) return;
        count_turns(group);
    }
}

// MySQL waits for a lock for at least a second, but it can say at once whether a row is locked.
result<void> backend::go(connection& on, std::span<pending* const> group, haste how,
                         local_time deadline) {
    const bool alone = how == haste::brief || how == haste::last;
    if (alone && !options_.texts.has_compound()) {
        row_buffer id;
        add_id(id.add_row(), group.front()->of->id);
        auto free = on.run({.text = options_.texts.find_unlocked(id)}, deadline);
        if (!free) return std::move(free).error();
    }
    return rounds_.go(on, group, lock_wait(how), deadline);
}

backend::course backend::recover(std::span<pending* const> group, haste how, const failure& why,
                                 local_time deadline) {
    if (why.possible == effect::unknown) {
        fail_all(group, why);
        return course::answered;
    }
    // The server went away before anything was sent.
    if (session_.lost()) return course::again;
    // It has become a replica, or is going down.
    if (why.code == errc::read_only || why.code == errc::unavailable) session_.drop();
    std::vector<pending*> left;
    std::copy_if(group.begin(), group.end(), std::back_inserter(left), unanswered);
    const bool conflicts = why.code == errc::conflict;
    const bool locked = why.code == errc::timed_out;
    // Two batches stood in each other's way; the other one has gone on.
    if (conflicts && (left.size() == 1 || left.front()->turns < deadlocks_max)) {
        return course::again;
    }
    // A row is locked, mostly by a transaction that is just committing: the commands wait for it
    // together.
    if (locked && how == haste::first) {
        // Repeats need no lock; and MySQL cannot look first and insert in one round trip.
        if (!options_.texts.has_compound()) look_first(left);
        run(left, haste::patient, deadline);
    } else if (left.size() > 1) {
        split(left, how, deadline);
    } else if (locked && how != haste::last) {
        // The server may only have been slow: a run that does not wait for locks shows it.
        run(left, haste::last, deadline);
    } else {
        if (locked) remember_locked(*left.front()->of);
        fail_all(left, why);
    }
    return course::answered;
}

// One of them failed and the transaction with it: smaller ones, until only the culprit fails.
void backend::split(std::span<pending* const> group, haste how, local_time deadline) {
    const std::size_t each = (group.size() + parts - 1) / parts;
    for (std::size_t at = 0; at < group.size(); at += each) {
        run(group.subspan(at, std::min(each, group.size() - at)), how, deadline);
    }
}

// ---- records held by strangers ------------------------------------------------------------------

duration backend::lock_wait(haste how) const {
    switch (how) {
    case haste::patient: return options_.to.lock_timeout;
    case haste::brief: return std::min(options_.to.lock_timeout, brief_wait);
    case haste::first:
    case haste::last: break;
    }
    return {};
}

// The next commands on it wait but a moment, and the others not for them.
void backend::remember_locked(const job& one) {
    const local_time now = local_clock::now();
    if (locked_.size() >= locked_max) {
        std::erase_if(locked_, [&](const auto& it) { return it.second < now; });
    }
    if (locked_.size() < locked_max) locked_[one.hash] = now + locked_memory;
}

bool backend::is_locked(const job& one) {
    if (locked_.empty()) return false;
    const auto at = locked_.find(one.hash);
    if (at == locked_.end()) return false;
    if (local_clock::now() < at->second) return true;
    locked_.erase(at);
    return false;
}

// ---- sweeps and audits --------------------------------------------------------------------------

result<std::vector<rows>> backend::ask(const script& what) {
    const auto on = session_.get();
    if (!on) return on.error();
    counters_.round_trips.add();
    return (*on)->run(what, local_clock::now() + options_.to.answer_timeout);
}

result<std::size_t> backend::purge(std::size_t most, std::optional<time_point> now) {
    const std::string at =
        now ? number_text(now->time_since_epoch().count()) : std::string{clock_expression};
    std::size_t removed = 0;
    for (int state = 0; state <= 3 && removed < most; ++state) {
        const std::size_t left = most - removed;
        const std::string find = state == 0 ? options_.texts.find_forsaken(at, left)
                                            : options_.texts.find_expired(state, at, left);
        auto gone = purge(find);
        for (int turn = 0; !gone && stood_in_the_way(gone.error()) && turn < deadlocks_max;
             ++turn) {
            gone = purge(find);
        }
        if (!gone) return gone.error();
        removed += *gone;
    }
    return removed;
}

// The records stay locked between the two round trips. The floor goes up in the same commit as the
// records go, so no transaction sees one without the other.
result<std::size_t> backend::purge(const std::string& find) {
    auto found = ask({.text = "BEGIN;" + options_.texts.timed(options_.to.lock_timeout, find),
                      .in_transaction = true});
    if (!found) return std::move(found).error();
    row_buffer ids;
    std::uint64_t highest = 0;
    rows& all = found->back();
    while (all.next()) {
        ids.add_row().add(all.bytes(0)).add(all.bytes(1)).add(all.bytes(2));
        highest = std::max(highest, static_cast<std::uint64_t>(all.integer(3)));
    }
    script remove{.text = "COMMIT", .what = script::writes::at_commit, .in_transaction = true};
    if (ids.size() > 0) {
        remove.text = options_.texts.raise_floor(highest) + ";" +
                      options_.texts.forget_all_checkpoints(ids) + ";" +
                      options_.texts.erase_all(ids) + ";COMMIT";
        remove.before_commit = 3;
    }
    auto done = ask(remove);
    if (!done) return std::move(done).error();
    if (ids.size() > 0) counters_.commits.add();
    counters_.record_writes.add(ids.size());
    return ids.size();
}

result<std::vector<audit_entry>> backend::audit(const record_id& id) {
    row_buffer of;
    add_id(of.add_row(), id);
    auto got = ask({.text = options_.texts.audit(of)});
    if (!got) return std::move(got).error();
    rows& all = got->front();
    std::vector<audit_entry> found;
    while (all.next()) {
        found.push_back({.at = all.time(0),
                         .act = std::string{all.bytes(1)},
                         .actor = std::string{all.bytes(2)},
                         .reason = std::string{all.bytes(3)},
                         .fence = static_cast<std::uint64_t>(all.integer(4)),
                         .from = audit_state(all.integer(5)),
                         .to = audit_state(all.integer(6))});
    }
    return found;
}

// ---- searches -----------------------------------------------------------------------------------

result<rows_read> backend::read(const record_query& query, const row_request& which) {
    const std::string now = query.now ? number_text(query.now->time_since_epoch().count())
                                      : std::string{clock_expression};
    auto got = ask({.text = options_.texts.search(query, which, now)});
    if (!got) return std::move(got).error();
    rows& all = got->front();
    rows_read found;
    while (all.next()) {
        auto row = read_record_row(all, 4);
        if (!row) return std::move(row).error();
        found.now = all.time(3);
        found.rows.push_back({.id = {.tenant = std::string{all.bytes(0)},
                                     .operation = std::string{all.bytes(1)},
                                     .key = std::string{all.bytes(2)}},
                              .it = std::move(row->it)});
    }
    return found;
}

} // namespace semel::mysql
