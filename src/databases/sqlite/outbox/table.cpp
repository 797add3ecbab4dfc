#include "databases/sqlite/outbox/table.hpp"

#include <algorithm>
#include <chrono>

#include "databases/sqlite/client/schema.hpp"
#include "databases/sqlite/store/row.hpp"
#include "outbox/header_text.hpp"
#include "semel/databases/sqlite/outbox.hpp"

namespace semel::outbox {

namespace lite {

namespace {

const std::string index_order = " ORDER BY next_retry_time, lock_until, id LIMIT ?2";

// ?1 shard, ?2 how many, ?3 after, ?4 now. One range of idx_claim each, in its order.
std::string range(claim_range which) {
    const std::string lapsed =
        "status = 1 AND next_retry_time = 0 AND lock_until <= ?4 AND id > ?3 AND attempts ";
    switch (which) {
    case claim_range::fresh:
        return "status = 0 AND next_retry_time = 0 AND lock_until = 0 AND id > ?3 AND ?4 > 0" +
               index_order;
    case claim_range::due:
        return "status = 0 AND next_retry_time > 0 AND next_retry_time <= ?4 AND id > ?3" +
               index_order;
    case claim_range::expired: return lapsed + "< " + std::to_string(often) + index_order;
    case claim_range::expired_often: break;
    }
    return lapsed + ">= " + std::to_string(often) + index_order;
}

} // namespace

std::string claim_text(claim_range which) {
    return "UPDATE semel_outbox SET status = 1, attempts = attempts + 1, next_retry_time = 0, "
           "lock_owner = ?5, lock_token = ?6, lock_time = ?4, lock_until = ?4 + ?7, "
           "updated_at = ?4 WHERE id IN (SELECT id FROM semel_outbox WHERE shard_id = ?1 AND " +
           range(which) + ") RETURNING " + columns();
}

std::string columns() {
    return "id, shard_id, attempts, created_at, event_id, topic, message_key, headers, "
           "trace_context, payload";
}

std::string owner_text(const owner_id& owner) {
    const auto made = sqlite::bytes_of(owner);
    return {made.data(), made.size()};
}

// All processes on the file share this machine's clock.
std::int64_t now() {
    return std::chrono::duration_cast<duration>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

message read_message(const sqlite::query& from, int first) {
    message made;
    made.row = from.integer(first);
    made.shard = static_cast<std::int32_t>(from.integer(first + 1));
    made.attempts = static_cast<std::int32_t>(from.integer(first + 2));
    made.created_at = from.time(first + 3);
    made.event.id = from.bytes(first + 4);
    made.event.topic = from.bytes(first + 5);
    made.event.key = from.bytes(first + 6);
    read_header_lines(from.bytes(first + 7), made.event.headers);
    read_header_lines(from.bytes(first + 8), made.event.headers);
    made.event.payload = from.bytes(first + 9);
    return made;
}

// ---- statements ---------------------------------------------------------------------------------

result<std::size_t> sqlite_table::run(const std::string& sql, const values& with,
                                      const on_row& each) {
    auto at = prepared_.find(sql);
    if (at == prepared_.end()) {
        auto made = on_->prepare(sqlite::with_prefix(sql, prefix_));
        if (!made) return std::move(made).error();
        at = prepared_.emplace(sql, *std::move(made)).first;
    }
    sqlite::query asked{at->second};
    for (std::size_t i = 0; i < with.size(); ++i) {
        const int place = static_cast<int>(i) + 1;
        if (with[i].is_bytes) {
            asked.bind(place, with[i].bytes);
        } else {
            asked.bind(place, with[i].number);
        }
    }
    if (!each) {
        const auto changed = asked.run();
        if (!changed) return changed.error();
        return static_cast<std::size_t>(*changed);
    }
    std::size_t rows = 0;
    while (true) {
        const auto stepped = asked.step();
        if (!stepped) return stepped.error();
        if (*stepped == sqlite::query::step_result::done) return rows;
        each(asked);
        ++rows;
    }
}

result<std::size_t> sqlite_table::write(const std::string& sql, const values& with) {
    return transact(sqlite::access::write, [&] { return run(sql, with); });
}

result<std::size_t> sqlite_table::write_each(const std::string& sql,
                                             std::span<const std::int64_t> rows,
                                             const values& with) {
    return transact(sqlite::access::write, [&]() -> result<std::size_t> {
        std::size_t changed = 0;
        for (const std::int64_t row : rows) {
            values all{row};
            all.insert(all.end(), with.begin(), with.end());
            const auto one = run(sql, all);
            if (!one) return one.error();
            changed += *one;
        }
        return changed;
    });
}

// ---- parallel mode ------------------------------------------------------------------------------

// The guard's parameters are ?2, ?3 and ?4.
result<void> sqlite_table::settle(const settlement& last, const std::string& guard,
                                  const values& guarded, exchanged& to) {
    for (const std::int64_t row : last.done) {
        values with{row};
        with.insert(with.end(), guarded.begin(), guarded.end());
        if (options_.ack == on_ack::archive) {
            values at = with;
            at.emplace_back(now());
            const auto kept =
                run("INSERT OR IGNORE INTO semel_outbox_archive (archived_at, " + columns() +
                        ") SELECT ?5, " + columns() + " FROM semel_outbox WHERE id = ?1" + guard,
                    at);
            if (!kept) return kept.error();
        }
        const auto gone = run("DELETE FROM semel_outbox WHERE id = ?1" + guard, with);
        if (!gone) return gone.error();
        to.done += *gone;
    }
    for (const auto& one : last.back) {
        values with{one.row};
        with.insert(with.end(), guarded.begin(), guarded.end());
        with.emplace_back(static_cast<std::int64_t>(one.as));
        with.emplace_back(one.delay > duration::zero() ? now() + one.delay.count() : 0);
        with.emplace_back(one.tries);
        with.emplace_back(std::string_view{one.error});
        with.emplace_back(now());
        const auto back =
            run("UPDATE semel_outbox SET status = ?5, lock_until = 0, next_retry_time = ?6, "
                "attempts = attempts + ?7, last_error = CASE WHEN length(?8) = 0 THEN last_error "
                "ELSE ?8 END, updated_at = ?9 WHERE id = ?1" +
                    guard,
                with);
        if (!back) return back.error();
        to.back += *back;
    }
    return {};
}

result<exchanged> sqlite_table::exchange(const settlement& last,
                                         const std::optional<claim_request>& next) {
    return transact(sqlite::access::write, [&] { return exchange_within(last, next); });
}

result<exchanged> sqlite_table::exchange_within(const settlement& last,
                                                const std::optional<claim_request>& next) {
    exchanged made;
    const std::string owner = owner_text(last.of.owner);
    const values guarded{std::string_view{owner}, last.of.token, std::int64_t{1}};
    auto settled =
        settle(last, " AND lock_owner = ?2 AND lock_token = ?3 AND status = ?4", guarded, made);
    if (!settled) return std::move(settled).error();
    if (!next) return made;
    if (auto claimed = claim_within(*next, made); !claimed) return std::move(claimed).error();
    std::sort(made.claimed.begin(), made.claimed.end(),
              [](const message& one, const message& other) { return one.row < other.row; });
    return made;
}

result<void> sqlite_table::claim_within(const claim_request& next, exchanged& to) {
    const std::string owner = owner_text(next.by.owner);
    const values with{next.shard,
                      static_cast<std::int64_t>(next.rows_max),
                      next.after,
                      now(),
                      std::string_view{owner},
                      next.by.token,
                      next.lease.count()};
    const auto keep = [&](const sqlite::query& row) { to.claimed.push_back(read_message(row, 0)); };
    const auto got = run(claim_text(next.range), with, keep);
    if (!got) return got.error();
    to.selected = *got;
    return {};
}

result<std::size_t> sqlite_table::renew(const row_lock& by, std::span<const std::int64_t> rows,
                                        duration lease) {
    const std::string owner = owner_text(by.owner);
    return write_each("UPDATE semel_outbox SET lock_until = ?4, updated_at = ?5 WHERE id = ?1 AND "
                      "lock_owner = ?2 AND lock_token = ?3 AND status = 1",
                      rows, {std::string_view{owner}, by.token, now() + lease.count(), now()});
}

result<std::size_t> sqlite_table::release(std::int32_t shard, const row_lock& by) {
    const std::string owner = owner_text(by.owner);
    return write("UPDATE semel_outbox SET status = 0, lock_until = 0, attempts = attempts - 1 "
                 "WHERE shard_id = ?1 AND status = 1 AND next_retry_time = 0 AND lock_owner = ?2 "
                 "AND lock_token = ?3",
                 {shard, std::string_view{owner}, by.token});
}

result<std::int32_t> sqlite_table::shards_used() {
    std::int32_t used = 0;
    const auto got =
        run("SELECT coalesce(max(shard_id) + 1, 0) FROM semel_outbox", {},
            [&](const sqlite::query& row) { used = static_cast<std::int32_t>(row.integer(0)); });
    if (!got) return got.error();
    return used;
}

} // namespace lite

result<std::unique_ptr<table>> open_sqlite_table(const sqlite_store_options& store,
                                                 const table_options& options) {
    // Opening the file as a store makes its tables where it may, and refuses what is no store.
    if (auto made = open_sqlite_store(store); !made) return std::move(made).error();
    auto on = sqlite::connection::open({.path = store.path,
                                        .lock_wait = store.lock_wait,
                                        .cache_bytes = std::size_t{4} << 20,
                                        .mode = store.mode});
    if (!on) return std::move(on).error();
    if (auto ready = (*on)->make_ready(); !ready) return std::move(ready).error();
    // A power cut may undo an ack of ours: then the event is sent again, under the same id. The
    // application's own connection is FULL. Zeroing deleted rows would double the writes.
    auto set = (*on)->execute("PRAGMA synchronous=NORMAL; PRAGMA secure_delete=OFF");
    if (!set) return std::move(set).error();
    return std::unique_ptr<table>{
        std::make_unique<lite::sqlite_table>(*std::move(on), store.table_prefix, options)};
}

} // namespace semel::outbox
