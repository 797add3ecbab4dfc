#include "databases/mysql/client/literal.hpp"
#include "databases/mysql/outbox/table.hpp"
#include "databases/mysql/outbox/texts.hpp"
#include "outbox/relay_number.hpp"

namespace semel::outbox::my {

namespace {

using mysql::number_text;

std::string lease_end(duration lease) {
    return "@n+" + number_text(lease.count());
}

} // namespace

result<shards_seen> mysql_table::attend(const owner_id& owner, std::int32_t shards,
                                        duration lease) {
    const std::string me = owner_text(owner);
    std::string missing;
    for (std::int32_t i = 0; i < shards; ++i) {
        missing += (i == 0 ? "(" : ",(") + number_text(i) + ")";
    }
    auto got = transact(
        {"INSERT INTO semel_outbox_shard (shard_id,owner,lock_until,updated_at) VALUES (" +
             number_text(relay_number(owner)) + "," + me + "," + lease_end(lease) +
             ",@n) ON DUPLICATE KEY UPDATE owner=VALUES(owner),lock_until=VALUES(lock_until),"
             "updated_at=VALUES(updated_at)",
         "UPDATE semel_outbox_shard SET lock_until=" + lease_end(lease) + " WHERE owner=" + me +
             " AND shard_id>=0 AND lock_until>0"},
        {"SELECT shard_id,lock_until<=@n,owner=" + me +
         " AND lock_until>0 FROM semel_outbox_shard ORDER BY shard_id"});
    if (!got) return std::move(got).error();
    shards_seen made;
    while ((*got)[1].next()) {
        const auto shard = static_cast<std::int32_t>((*got)[1].integer(0));
        const bool free = (*got)[1].integer(1) != 0;
        if (shard < 0) {
            made.relays += free ? 0 : 1;
            continue;
        }
        ++made.shards;
        if (free) made.free.push_back(shard);
        if ((*got)[1].integer(2) != 0) made.own.push_back(shard);
    }
    if (made.shards >= static_cast<std::size_t>(shards)) return made;
    // IGNORE takes locks on what is there already, so it is asked only where something is missing.
    auto added =
        transact({"INSERT IGNORE INTO semel_outbox_shard (shard_id) VALUES " + missing}, {});
    if (!added) return std::move(added).error();
    return attend(owner, 0, lease);
}

result<std::optional<taken_shard>> mysql_table::take(std::int32_t shard, const owner_id& owner,
                                                     duration lease) {
    const std::string which = " WHERE shard_id=" + number_text(shard);
    auto got = transact({"SET @b=(SELECT lock_until FROM semel_outbox_shard" + which + ")",
                         "UPDATE semel_outbox_shard SET epoch=epoch+1,owner=" + owner_text(owner) +
                             ",lock_until=" + lease_end(lease) + ",updated_at=@n" + which +
                             " AND lock_until=@b AND (@b<=@n OR owner=" + owner_text(owner) + ")"},
                        {"SELECT epoch,@b,owner=" + owner_text(owner) +
                         " AND updated_at=@n FROM semel_outbox_shard" + which});
    if (!got) return std::move(got).error();
    mysql::rows& answer = (*got)[1];
    if (!answer.next() || answer.integer(2) == 0) return std::optional<taken_shard>{};
    return std::optional<taken_shard>{
        {.epoch = answer.integer(0), .abandoned = answer.integer(1) != 0}};
}

result<void> mysql_table::give_back(const shard_lock& what) {
    auto got = count_of(
        "UPDATE semel_outbox_shard SET lock_until=0 WHERE shard_id=" + number_text(what.shard) +
        " AND owner=" + owner_text(what.owner) + " AND epoch=" + number_text(what.epoch));
    if (!got) return std::move(got).error();
    return {};
}

result<void> mysql_table::leave(const owner_id& owner) {
    auto got = count_of(
        "DELETE FROM semel_outbox_shard WHERE shard_id=" + number_text(relay_number(owner)) +
        " AND owner=" + owner_text(owner) + " OR shard_id<0 AND lock_until<@n-3600000000");
    if (!got) return std::move(got).error();
    return {};
}

result<std::vector<std::string>> mysql_table::tidy_shard(const shard_lock& by) {
    const std::string guard = shard_guard(by);
    auto dead = read("SELECT DISTINCT message_key FROM semel_outbox WHERE shard_id=" +
                     number_text(by.shard) + " AND status=2");
    if (!dead) return std::move(dead).error();
    std::vector<std::string> keys;
    std::string known;
    while (dead->front().next()) {
        keys.emplace_back(dead->front().bytes(0));
        known += known.empty() ? "" : ",";
        mysql::add_hex(known, keys.back());
    }
    std::vector<std::string> writes{
        "UPDATE semel_outbox FORCE INDEX (idx_claim) SET next_retry_time=0 WHERE status=0 AND "
        "next_retry_time>0" +
            guard,
        "UPDATE semel_outbox FORCE INDEX (idx_claim) SET status=0,lock_until=0 WHERE status=1 AND "
        "next_retry_time=0 AND "
        "lock_until<=@n" +
            guard,
        "UPDATE semel_outbox FORCE INDEX (idx_claim) SET status=0 WHERE status=3" + guard};
    if (!known.empty()) writes.back() += " AND message_key NOT IN (" + known + ")";
    if (auto done = transact(writes, {}); !done) return std::move(done).error();
    return keys;
}

result<shard_read> mysql_table::advance(const shard_lock& by, const settlement& last,
                                        const std::optional<read_request>& next) {
    std::vector<std::string> reads;
    if (next) {
        reads.push_back(
            "SELECT " + columns() + " FROM semel_outbox FORCE INDEX (idx_claim)" +
            range({.shard = by.shard, .after = next->after, .rows_max = next->rows_max}));
    }
    shard_read made;
    if (last.empty() && reads.empty()) return made;
    auto got = last.empty() ? read(reads.front())
                            : transact(settle(last, shard_guard(by), options_.ack), reads);
    if (!got) return std::move(got).error();
    if (!last.empty()) {
        got->front().next();
        made.done = static_cast<std::size_t>(got->front().integer(0));
    }
    if (!next) return made;
    while (got->back().next()) made.rows.push_back(read_message(got->back(), 0));
    return made;
}

// ---- operators ----------------------------------------------------------------------------------

result<std::vector<row_view>> mysql_table::views(const std::string& where) {
    auto got = read("SELECT " + columns() +
                    ",status,next_retry_time,lock_until,updated_at,last_error FROM semel_outbox "
                    "WHERE " +
                    where);
    if (!got) return std::move(got).error();
    mysql::rows& from = got->front();
    std::vector<row_view> made;
    while (from.next()) {
        made.push_back({.it = read_message(from, 0),
                        .status = static_cast<row_status>(from.integer(10)),
                        .next_retry_time = from.time(11),
                        .lock_until = from.time(12),
                        .updated_at = from.time(13),
                        .last_error = std::string{from.bytes(14)}});
    }
    return made;
}

result<std::vector<row_view>> mysql_table::list(const row_query& which) {
    std::string where = "id>" + number_text(which.after);
    if (which.status) {
        where += " AND status=" + number_text(static_cast<std::int64_t>(*which.status));
    }
    if (!which.topic.empty()) {
        where += " AND topic=";
        mysql::add_hex(where, which.topic);
    }
    return views(where + " ORDER BY id LIMIT " +
                 number_text(static_cast<std::int64_t>(which.rows_max)));
}

result<std::optional<row_view>> mysql_table::show(std::int64_t row) {
    auto got = views("id=" + number_text(row));
    if (!got) return std::move(got).error();
    if (got->empty()) return std::optional<row_view>{};
    return std::optional<row_view>{std::move(got->front())};
}

result<std::size_t> mysql_table::requeue(std::span<const std::int64_t> rows) {
    return count_of("UPDATE semel_outbox SET status=0,attempts=0,next_retry_time=0,lock_until=0,"
                    "updated_at=@n WHERE status=2" +
                    (rows.empty() ? std::string{} : " AND id IN " + id_list(rows)));
}

result<std::size_t> mysql_table::drop(std::span<const std::int64_t> rows) {
    if (rows.empty()) return std::size_t{0};
    return count_of("DELETE FROM semel_outbox WHERE status<>1 AND id IN " + id_list(rows));
}

result<backlog> mysql_table::measure() {
    const std::string most =
        " LIMIT " + number_text(static_cast<std::int64_t>(backlog_count_max)) + ") w)";
    auto got = read(
        "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM semel_outbox WHERE status<>2" + most +
        ",(SELECT COUNT(*) FROM (SELECT 1 FROM semel_outbox WHERE status=2" + most + ",COALESCE(" +
        clock + "-(SELECT created_at FROM semel_outbox WHERE status<>2 ORDER BY id LIMIT 1),0)");
    if (!got) return std::move(got).error();
    got->front().next();
    return backlog{.waiting = static_cast<std::uint64_t>(got->front().integer(0)),
                   .dead = static_cast<std::uint64_t>(got->front().integer(1)),
                   .oldest = duration{got->front().integer(2)}};
}

} // namespace semel::outbox::my
