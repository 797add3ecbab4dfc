#include "databases/sqlite/store/records.hpp"

#include <algorithm>
#include <bit>

#include "core/audit_code.hpp"
#include "databases/sqlite/store/statements.hpp"

namespace semel::sqlite {

namespace {

std::int64_t as_integer(std::uint64_t value) {
    return std::bit_cast<std::int64_t>(value);
}

std::string_view view(const owner_bytes& owner) {
    return {owner.data(), owner.size()};
}

result<void> run(query& one) {
    auto done = one.run();
    if (!done) return std::move(done).error();
    return {};
}

} // namespace

result<std::unique_ptr<records>> records::prepare(connection& on, std::string_view prefix) {
    const statement_texts texts{prefix};
    auto rows = record_rows::prepare(on, texts);
    if (!rows) return std::move(rows).error();
    std::unique_ptr<records> made{new records};
    made->rows_ = *std::move(rows);
    const prepared all[]{
        {made->complete_, texts.complete},         {made->raise_floor_, texts.raise_floor},
        {made->add_audit_, texts.add_audit},       {made->load_audit_, texts.load_audit},
        {made->find_expired_, texts.find_expired}, {made->find_forsaken_, texts.find_forsaken},
        {made->search_ids_, texts.search_ids},     {made->search_ref_, texts.search_ref},
        {made->search_stuck_, texts.search_stuck}, {made->search_failed_, texts.search_failed},
    };
    if (auto ready = prepare_all(on, all); !ready) return std::move(ready).error();
    return made;
}

// ---- commands -----------------------------------------------------------------------------------

result<executed> records::execute(const record_id& id, const command& what, time_point now) {
    if (const auto* one = std::get_if<commands::begin>(&what)) {
        auto done = begin_new(id, *one, now);
        if (!done) return std::move(done).error();
        if (*done) return **std::move(done);
    }
    if (const auto* one = std::get_if<commands::complete>(&what)) {
        auto done = complete_running(id, *one, now);
        if (!done) return std::move(done).error();
        if (*done) return **std::move(done);
    }
    return load_apply_save(id, what, now);
}

// A usual begin finds no record: one statement inserts it, and reports if there was one.
result<std::optional<executed>> records::begin_new(const record_id& id, const commands::begin& what,
                                                   time_point now) {
    const auto lowest = floor();
    if (!lowest) return lowest.error();
    auto made = apply(nullptr, what, {.now = now, .fence_floor = *lowest});
    const auto inserted = rows_->insert(id, *made.after);
    if (!inserted) return inserted.error();
    if (!*inserted) return std::optional<executed>{};
    return std::optional<executed>{{.said = std::move(made.said), .what = made.what}};
}

// The usual completion finds its own claim: one statement, equal to what apply() does with it.
result<std::optional<executed>>
records::complete_running(const record_id& id, const commands::complete& what, time_point now) {
    const owner_bytes owner = bytes_of(what.by.owner);
    const time_point expires_at = now + what.retention;
    query update{complete_};
    bind_id(update, id);
    update.bind(4, as_integer(what.by.fence)).bind(5, view(owner));
    update.bind(6, now).bind(7, expires_at);
    update.bind(8, static_cast<std::int64_t>(what.result.kind));
    update.bind(9, as_integer(what.result.checksum));
    update.bind(10, what.result.type).bind(11, what.result.ref).bind(12, what.result.body);
    const auto changed = update.run();
    if (!changed) return changed.error();
    if (*changed == 0) return std::optional<executed>{};
    return std::optional<executed>{
        {.said = answers::stored{.expires_at = expires_at}, .what = change::put}};
}

result<std::optional<answer>> records::look(const record_id& id, const command& what,
                                            time_point now) {
    const bool begins = std::holds_alternative<commands::begin>(what);
    if (!begins && !std::holds_alternative<commands::lookup>(what)) return std::optional<answer>{};
    const auto before = rows_->load(id);
    if (!before) return before.error();
    if (begins && !*before) return std::optional<answer>{};
    // What changes nothing takes no fence, so the floor does not matter.
    auto made = apply(*before ? &(*before)->it : nullptr, what, {.now = now, .fence_floor = 0});
    if (made.what != change::none || made.audit) return std::optional<answer>{};
    return std::optional<answer>{std::move(made.said)};
}

result<executed> records::load_apply_save(const record_id& id, const command& what,
                                          time_point now) {
    const auto before = rows_->load(id);
    if (!before) return before.error();
    const auto lowest = floor();
    if (!lowest) return lowest.error();
    auto made =
        apply(*before ? &(*before)->it : nullptr, what, {.now = now, .fence_floor = *lowest});
    if (auto written = write(id, *before, made); !written) return std::move(written).error();
    return executed{.said = std::move(made.said), .what = made.what};
}

result<void> records::write(const record_id& id, const std::optional<stored_row>& before,
                            const applied& made) {
    if (made.audit) {
        if (auto kept = keep(id, *made.audit); !kept) return kept;
    }
    switch (made.what) {
    case change::none: return {};
    case change::put: {
        if (before) return rows_->save(*before, *made.after);
        const auto inserted = rows_->insert(id, *made.after);
        if (!inserted) return inserted.error();
        return {};
    }
    case change::erase: {
        if (auto raised = raise_floor(before->it.holder.fence); !raised) return raised;
        return rows_->erase(before->id, static_cast<std::int64_t>(before->it.checkpoints.size()));
    }
    }
    return {};
}

result<void> records::keep(const record_id& id, const audit_entry& what) {
    query add{add_audit_};
    bind_id(add, id);
    add.bind(4, what.at).bind(5, what.act).bind(6, what.actor).bind(7, what.reason);
    add.bind(8, as_integer(what.fence));
    add.bind(9, audit_code(what.from)).bind(10, audit_code(what.to));
    return run(add);
}

result<std::vector<audit_entry>> records::audit(const record_id& id) {
    std::vector<audit_entry> found;
    query select{load_audit_};
    bind_id(select, id);
    while (true) {
        const auto stepped = select.step();
        if (!stepped) return stepped.error();
        if (*stepped == query::step_result::done) return found;
        found.push_back({.at = select.time(0),
                         .act = std::string{select.bytes(1)},
                         .actor = std::string{select.bytes(2)},
                         .reason = std::string{select.bytes(3)},
                         .fence = std::bit_cast<std::uint64_t>(select.integer(4)),
                         .from = audit_state(select.integer(5)),
                         .to = audit_state(select.integer(6))});
    }
}

// ---- search -------------------------------------------------------------------------------------

statement& records::search_by(row_request::path way) {
    switch (way) {
    case row_request::path::ids: break;
    case row_request::path::failed: return search_failed_;
    case row_request::path::result_ref: return search_ref_;
    case row_request::path::stuck: return search_stuck_;
    }
    return search_ids_;
}

result<rows_read> records::read(const record_query& query, const row_request& which,
                                time_point now) {
    semel::sqlite::query select{search_by(which.by)};
    bind_id(select, which.from);
    select.bind(4, std::int64_t{query.results == result_bodies::included ? 1 : 0});
    select.bind(5, static_cast<std::int64_t>(which.most));
    if (which.by == row_request::path::stuck) {
        select.bind(6, now - *query.stuck_for).bind(7, which.leases_from);
    } else {
        select.bind(6, which.until.tenant).bind(7, which.until.operation).bind(8, which.until.key);
    }
    if (which.by == row_request::path::result_ref) select.bind(9, *query.result_ref);
    rows_read found{.now = now};
    while (true) {
        const auto stepped = select.step();
        if (!stepped) return stepped.error();
        if (*stepped == semel::sqlite::query::step_result::done) return found;
        auto row = read_record(select, 3);
        if (!row) return std::move(row).error();
        found.rows.push_back({.id = {.tenant = std::string{select.bytes(0)},
                                     .operation = std::string{select.bytes(1)},
                                     .key = std::string{select.bytes(2)}},
                              .it = std::move(row->it)});
    }
}

// ---- fence floor and sweeping -------------------------------------------------------------------

// Other processes raise it too, so it is read in every transaction that needs it.
result<std::uint64_t> records::floor() {
    if (floor_) return *floor_;
    const auto read = rows_->fence_floor();
    if (read) floor_ = *read;
    return read;
}

result<void> records::raise_floor(std::uint64_t to) {
    query update{raise_floor_};
    update.bind(1, as_integer(to));
    floor_.reset();
    return run(update);
}

result<void> records::find(statement& with, std::size_t most, time_point now,
                           std::vector<candidate>& found) {
    query select{with};
    select.bind(1, now).bind(2, static_cast<std::int64_t>(most - found.size()));
    while (true) {
        const auto stepped = select.step();
        if (!stepped) return stepped.error();
        if (*stepped == query::step_result::done) return {};
        found.push_back({.id = select.integer(0),
                         .fence = select.integer(1),
                         .checkpoints = select.integer(2)});
    }
}

result<std::size_t> records::purge(std::size_t most, time_point now) {
    std::vector<candidate> found;
    for (auto* with : {&find_expired_, &find_forsaken_}) {
        if (auto done = find(*with, most, now, found); !done) return std::move(done).error();
    }
    if (found.empty()) return std::size_t{0};
    const auto by_fence = [](const candidate& a, const candidate& b) { return a.fence < b.fence; };
    const auto highest = std::max_element(found.begin(), found.end(), by_fence);
    auto raised = raise_floor(std::bit_cast<std::uint64_t>(highest->fence));
    if (!raised) return std::move(raised).error();
    for (const auto& one : found) {
        if (auto gone = rows_->erase(one.id, one.checkpoints); !gone)
            return std::move(gone).error();
    }
    return found.size();
}

} // namespace semel::sqlite
