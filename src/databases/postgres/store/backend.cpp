#include "databases/postgres/store/backend.hpp"

#include <algorithm>
#include <new>

#include "core/audit_code.hpp"
#include "databases/postgres/store/row.hpp"

namespace semel::postgres {

namespace {

// How often a command may lose the race against other writers.
constexpr int turns_max = 8;
// Into how many parts a failed batch is split: few enough that the innocent share their commits.
constexpr std::size_t parts = 8;
constexpr duration locked_memory = std::chrono::milliseconds{250};
constexpr std::size_t locked_max = 1'024;

bool unanswered(const pending* one) {
    return one->next != need::nothing;
}

bool any_unanswered(std::span<pending* const> group) {
    return std::any_of(group.begin(), group.end(), unanswered);
}

// Whether the step that is due may change the record; the others only look at it.
bool writes(const pending& one) {
    if (one.next == need::save || one.next == need::by_key) return true;
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
    return failure_of({.state = "57014", .message = "not executed by the deadline"},
                      ending::rolled_back);
}

failure out_of_memory() {
    return {.code = errc::no_space,
            .possible = effect::unknown,
            .detail = "postgres: this process is out of memory"};
}

failure outrun() {
    return {.code = errc::conflict,
            .possible = effect::none,
            .detail = "postgres: others kept changing this record"};
}

// A command that has used up its rounds is answered. The others go on.
void count_turns(std::span<pending* const> group) {
    for (pending* one : group) {
        if (unanswered(one) && ++one->turns >= turns_max) fail(*one, outrun());
    }
}

// The rows of a search: id, the server's time, the record.
result<rows_read> found_in(const rows& all) {
    rows_read found;
    for (int row = 0; row < all.count(); ++row) {
        auto it = read_record(all, row, 4, checkpoint_columns::none);
        if (!it) return std::move(it).error();
        found.now = all.time(row, 3);
        found.rows.push_back({.id = {.tenant = std::string{all.bytes(row, 0)},
                                     .operation = std::string{all.bytes(row, 1)},
                                     .key = std::string{all.bytes(row, 2)}},
                              .it = *std::move(it)});
    }
    return found;
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
        (is_locked(*batch[i]) ? locked : usual).push_back(&all[i]);
    }
    try {
        if (!usual.empty()) run(usual, haste::patient, deadline);
        for (pending* const& one : locked) run({&one, 1}, haste::impatient, deadline);
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
        const auto done = rounds_.go(**on, group, how, deadline);
        if (!done && recover(group, how, done.error(), deadline) == course::answered) return;
        count_turns(group);
    }
}

backend::course backend::recover(std::span<pending* const> group, haste how, const failure& why,
                                 local_time deadline) {
    if (why.possible == effect::unknown) {
        fail_all(group, why);
        return course::answered;
    }
    // The server went away before anything was sent.
    if (session_.lost()) return course::again;
    // It has become a standby, or a pooler has put another session in the place of ours.
    if (why.code == errc::read_only || why.code == errc::unavailable) session_.drop();
    const auto left = std::count_if(group.begin(), group.end(), unanswered);
    if (left > 1) {
        // They have waited once, all of them; the innocent do not wait again.
        split(group, why.code == errc::timed_out ? haste::impatient : how, deadline);
        return course::answered;
    }
    if (why.code == errc::conflict) return course::again;
    if (why.code == errc::timed_out) {
        remember_locked(*(*std::find_if(group.begin(), group.end(), unanswered))->of);
    }
    fail_all(group, why);
    return course::answered;
}

// One of them failed and the transaction with it: smaller ones, until only the culprit fails.
void backend::split(std::span<pending* const> group, haste how, local_time deadline) {
    std::vector<pending*> left;
    std::copy_if(group.begin(), group.end(), std::back_inserter(left), unanswered);
    const std::size_t each = (left.size() + parts - 1) / parts;
    for (std::size_t at = 0; at < left.size(); at += each) {
        const std::size_t size = std::min(each, left.size() - at);
        run(std::span<pending* const>{left}.subspan(at, size), how, deadline);
    }
}

// ---- records held by strangers ------------------------------------------------------------------

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

result<std::vector<rows>> backend::ask(const call& what) {
    const auto on = session_.get();
    if (!on) return on.error();
    counters_.round_trips.add();
    return (*on)->pipeline({&what, 1}, local_clock::now() + options_.to.answer_timeout);
}

result<std::size_t> backend::purge(std::size_t most, std::optional<time_point> now) {
    const auto when = big_endian(now ? now->time_since_epoch().count() : 0);
    std::size_t removed = 0;
    for (const auto* with : {&options_.texts.sweep_expired, &options_.texts.sweep_forsaken}) {
        if (removed == most) break;
        const auto limit = big_endian(static_cast<std::int64_t>(most - removed));
        call what{.name = with->name, .values = {{}, {limit.data(), limit.size()}}};
        if (now) what.values[0] = {when.data(), when.size()};
        const auto got = ask(what);
        if (!got) return got.error();
        const auto gone = static_cast<std::size_t>(got->front().integer(0, 0));
        removed += gone;
        if (gone > 0) counters_.commits.add();
        counters_.record_writes.add(gone);
    }
    return removed;
}

result<std::vector<audit_entry>> backend::audit(const record_id& id) {
    const auto text = [](const std::string& bytes) { return std::string_view{bytes}; };
    const auto got = ask({.name = options_.texts.audit.name,
                          .values = {text(id.tenant), text(id.operation), text(id.key)}});
    if (!got) return got.error();
    const rows& all = got->front();
    std::vector<audit_entry> found;
    for (int row = 0; row < all.count(); ++row) {
        found.push_back({.at = all.time(row, 0),
                         .act = std::string{all.bytes(row, 1)},
                         .actor = std::string{all.bytes(row, 2)},
                         .reason = std::string{all.bytes(row, 3)},
                         .fence = static_cast<std::uint64_t>(all.integer(row, 4)),
                         .from = audit_state(all.integer(row, 5)),
                         .to = audit_state(all.integer(row, 6))});
    }
    return found;
}

// ---- searches -----------------------------------------------------------------------------------

const plain_statement& backend::search_by(row_request::path way) const {
    const auto& texts = options_.texts;
    switch (way) {
    case row_request::path::ids: break;
    case row_request::path::failed: return texts.search_failed;
    case row_request::path::result_ref: return texts.search_ref;
    case row_request::path::stuck: return texts.search_stuck;
    }
    return texts.search_ids;
}

result<rows_read> backend::read(const record_query& query, const row_request& which) {
    const auto most = big_endian(static_cast<std::int64_t>(which.most));
    const auto bodies = big_endian(query.results == result_bodies::included ? 1 : 0);
    const auto now = big_endian(query.now ? query.now->time_since_epoch().count() : 0);
    const auto leases_from = big_endian(which.leases_from.time_since_epoch().count());
    const auto stuck_for = big_endian(query.stuck_for ? query.stuck_for->count() : 0);
    const auto view = [](const auto& bytes) {
        return std::string_view{bytes.data(), bytes.size()};
    };
    call what{.name = search_by(which.by).name,
              .values = {query.now ? view(now) : std::string_view{}, view(bodies), view(most)}};
    const auto add = [&](const record_id& id) {
        what.values.insert(what.values.end(), {view(id.tenant), view(id.operation), view(id.key)});
    };
    add(which.from);
    if (which.by == row_request::path::stuck) {
        what.values.insert(what.values.end(), {view(leases_from), view(stuck_for)});
    } else {
        add(which.until);
    }
    if (which.by == row_request::path::result_ref) what.values.push_back(view(*query.result_ref));
    const auto got = ask(what);
    if (!got) return got.error();
    return found_in(got->front());
}

} // namespace semel::postgres
