#include "databases/sqlite/outbox/table.hpp"
#include "outbox/relay_number.hpp"

namespace semel::outbox::lite {

namespace {

// ?2 shard, ?3 owner, ?4 epoch.
const std::string owned = " AND EXISTS (SELECT 1 FROM semel_outbox_shard s WHERE s.shard_id = ?2 "
                          "AND s.owner = ?3 AND s.epoch = ?4)";

} // namespace

std::string read_text() {
    return "SELECT " + columns() +
           " FROM semel_outbox WHERE shard_id = ?1 AND status = 0 AND next_retry_time = 0 AND "
           "lock_until = 0 AND id > ?2 ORDER BY id LIMIT ?3";
}

result<shards_seen> sqlite_table::attend(const owner_id& owner, std::int32_t shards,
                                         duration lease) {
    return transact(sqlite::access::write, [&] { return attend_within(owner, shards, lease); });
}

result<shards_seen> sqlite_table::attend_within(const owner_id& owner, std::int32_t shards,
                                                duration lease) {
    const std::string me = owner_text(owner);
    const std::int64_t at = now();
    auto done = run("INSERT INTO semel_outbox_shard (shard_id, owner, lock_until, updated_at) "
                    "VALUES (?1, ?2, ?3, ?4) ON CONFLICT (shard_id) DO UPDATE SET owner = "
                    "excluded.owner, lock_until = excluded.lock_until",
                    {relay_number(owner), std::string_view{me}, at + lease.count(), at});
    for (std::int64_t i = 0; done && i < shards; ++i) {
        done = run("INSERT OR IGNORE INTO semel_outbox_shard (shard_id) VALUES (?1)", {i});
    }
    if (done) {
        done = run("UPDATE semel_outbox_shard SET lock_until = ?2 WHERE owner = ?1 AND shard_id "
                   ">= 0 AND lock_until > 0",
                   {std::string_view{me}, at + lease.count()});
    }
    if (!done) return std::move(done).error();
    shards_seen made;
    const auto seen = run("SELECT shard_id, lock_until <= ?1, owner = ?2 AND lock_until > 0 FROM "
                          "semel_outbox_shard ORDER BY shard_id",
                          {at, std::string_view{me}}, [&](const sqlite::query& row) {
                              const auto shard = static_cast<std::int32_t>(row.integer(0));
                              const bool free = row.integer(1) != 0;
                              if (shard < 0) {
                                  made.relays += free ? 0 : 1;
                                  return;
                              }
                              ++made.shards;
                              if (free) made.free.push_back(shard);
                              if (row.integer(2) != 0) made.own.push_back(shard);
                          });
    if (!seen) return seen.error();
    return made;
}

result<std::optional<taken_shard>> sqlite_table::take(std::int32_t shard, const owner_id& owner,
                                                      duration lease) {
    return transact(sqlite::access::write, [&] { return take_within(shard, owner, lease); });
}

result<std::optional<taken_shard>>
sqlite_table::take_within(std::int32_t shard, const owner_id& owner, duration lease) {
    const std::string me = owner_text(owner);
    const std::int64_t at = now();
    std::optional<taken_shard> made;
    const auto found = run("SELECT epoch + 1, lock_until FROM semel_outbox_shard WHERE shard_id = "
                           "?1 AND (lock_until <= ?2 OR owner = ?3)",
                           {shard, at, std::string_view{me}}, [&](const sqlite::query& row) {
                               made = {.epoch = row.integer(0), .abandoned = row.integer(1) != 0};
                           });
    if (!found) return found.error();
    if (!made) return made;
    const auto taken = run("UPDATE semel_outbox_shard SET owner = ?2, epoch = ?3, lock_until = ?4, "
                           "updated_at = ?5 WHERE shard_id = ?1",
                           {shard, std::string_view{me}, made->epoch, at + lease.count(), at});
    if (!taken) return taken.error();
    return made;
}

result<void> sqlite_table::give_back(const shard_lock& what) {
    const std::string me = owner_text(what.owner);
    auto done = write("UPDATE semel_outbox_shard SET lock_until = 0 WHERE shard_id = ?1 AND owner "
                      "= ?2 AND epoch = ?3",
                      {what.shard, std::string_view{me}, what.epoch});
    if (!done) return std::move(done).error();
    return {};
}

result<void> sqlite_table::leave(const owner_id& owner) {
    const std::string me = owner_text(owner);
    auto done = write("DELETE FROM semel_outbox_shard WHERE (shard_id = ?1 AND owner = ?2) OR "
                      "(shard_id < 0 AND lock_until < ?3 - 3600000000)",
                      {relay_number(owner), std::string_view{me}, now()});
    if (!done) return std::move(done).error();
    return {};
}

result<std::vector<std::string>> sqlite_table::tidy_shard(const shard_lock& by) {
    return transact(sqlite::access::write, [&] { return tidy_within(by); });
}

result<std::vector<std::string>> sqlite_table::tidy_within(const shard_lock& by) {
    const std::string me = owner_text(by.owner);
    const values with{now(), by.shard, std::string_view{me}, by.epoch};
    for (const char* const one :
         {"UPDATE semel_outbox SET next_retry_time = 0 WHERE shard_id = ?2 AND status = 0 AND "
          "next_retry_time > 0 AND ?1 > 0",
          "UPDATE semel_outbox SET status = 0, lock_until = 0 WHERE shard_id = ?2 AND status = 1 "
          "AND next_retry_time = 0 AND lock_until <= ?1",
          "UPDATE semel_outbox AS o SET status = 0 WHERE shard_id = ?2 AND status = 3 AND ?1 > 0 "
          "AND NOT EXISTS (SELECT 1 FROM semel_outbox d WHERE d.shard_id = ?2 AND d.status = 2 "
          "AND d.message_key = o.message_key)"}) {
        if (auto done = run(one + owned, with); !done) return std::move(done).error();
    }
    std::vector<std::string> keys;
    const auto dead =
        run("SELECT DISTINCT message_key FROM semel_outbox WHERE shard_id = ?1 AND "
            "status = 2",
            {by.shard}, [&](const sqlite::query& row) { keys.emplace_back(row.bytes(0)); });
    if (!dead) return dead.error();
    return keys;
}

result<shard_read> sqlite_table::advance(const shard_lock& by, const settlement& last,
                                         const std::optional<read_request>& next) {
    const auto how = last.empty() ? sqlite::access::read : sqlite::access::write;
    return transact(how, [&] { return advance_within(by, last, next); });
}

result<shard_read> sqlite_table::advance_within(const shard_lock& by, const settlement& last,
                                                const std::optional<read_request>& next) {
    const std::string me = owner_text(by.owner);
    exchanged settled;
    auto done = settle(last, " AND shard_id = ?2" + owned,
                       {by.shard, std::string_view{me}, by.epoch}, settled);
    if (!done) return std::move(done).error();
    shard_read made{.done = settled.done + settled.back, .rows = {}};
    if (!next) return made;
    const auto got =
        run(read_text(), {by.shard, next->after, static_cast<std::int64_t>(next->rows_max)},
            [&](const sqlite::query& row) { made.rows.push_back(read_message(row, 0)); });
    if (!got) return got.error();
    return made;
}

// ---- operators ----------------------------------------------------------------------------------

result<std::vector<row_view>> sqlite_table::views(const std::string& where, const values& with) {
    std::vector<row_view> made;
    const auto got = run("SELECT " + columns() +
                             ", status, next_retry_time, lock_until, updated_at, last_error FROM "
                             "semel_outbox WHERE " +
                             where,
                         with, [&](const sqlite::query& row) {
                             made.push_back({.it = read_message(row, 0),
                                             .status = static_cast<row_status>(row.integer(10)),
                                             .next_retry_time = row.time(11),
                                             .lock_until = row.time(12),
                                             .updated_at = row.time(13),
                                             .last_error = std::string{row.bytes(14)}});
                         });
    if (!got) return got.error();
    return made;
}

result<std::vector<row_view>> sqlite_table::list(const row_query& which) {
    const auto status = which.status ? static_cast<std::int64_t>(*which.status) : std::int64_t{-1};
    return views("id > ?3 AND (?1 < 0 OR status = ?1) AND (length(?2) = 0 OR topic = CAST(?2 AS "
                 "TEXT)) ORDER BY id LIMIT ?4",
                 {status, std::string_view{which.topic}, which.after,
                  static_cast<std::int64_t>(which.rows_max)});
}

result<std::optional<row_view>> sqlite_table::show(std::int64_t row) {
    auto got = views("id = ?1", {row});
    if (!got) return std::move(got).error();
    if (got->empty()) return std::optional<row_view>{};
    return std::optional<row_view>{std::move(got->front())};
}

result<std::size_t> sqlite_table::requeue(std::span<const std::int64_t> rows) {
    const std::string sql = "UPDATE semel_outbox SET status = 0, attempts = 0, next_retry_time = "
                            "0, lock_until = 0 WHERE status = 2";
    if (rows.empty()) return write(sql, {});
    return write_each(sql + " AND id = ?1", rows, {});
}

result<std::size_t> sqlite_table::drop(std::span<const std::int64_t> rows) {
    return write_each("DELETE FROM semel_outbox WHERE id = ?1 AND status <> 1", rows, {});
}

result<backlog> sqlite_table::measure() {
    backlog made;
    const auto got =
        run("SELECT (SELECT count(*) FROM (SELECT 1 FROM semel_outbox WHERE status <> 2 LIMIT "
            "?1)), (SELECT count(*) FROM (SELECT 1 FROM semel_outbox WHERE status = 2 LIMIT ?1)), "
            "coalesce(?2 - (SELECT created_at FROM semel_outbox WHERE status <> 2 ORDER BY id "
            "LIMIT 1), 0)",
            {static_cast<std::int64_t>(backlog_count_max), now()}, [&](const sqlite::query& row) {
                made = {.waiting = static_cast<std::uint64_t>(row.integer(0)),
                        .dead = static_cast<std::uint64_t>(row.integer(1)),
                        .oldest = duration{row.integer(2)}};
            });
    if (!got) return got.error();
    return made;
}

} // namespace semel::outbox::lite
