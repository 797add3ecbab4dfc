#include "databases/mysql/outbox/texts.hpp"

#include <algorithm>

#include "databases/mysql/client/literal.hpp"
#include "databases/mysql/client/schema.hpp"

namespace semel::outbox::my {

namespace {

using mysql::number_text;

const std::string index_order = " ORDER BY next_retry_time,lock_until,id LIMIT ";

std::string limit(const claim_request& which) {
    return number_text(static_cast<std::int64_t>(which.rows_max));
}

std::string lapsed() {
    return " AND status=1 AND next_retry_time=0 AND lock_until<=" + std::string{clock};
}

} // namespace

std::string insert_head(std::string_view prefix) {
    return mysql::with_prefix("INSERT INTO semel_outbox (shard_id,event_id,topic,message_key,"
                              "headers,trace_context,payload,created_at,updated_at) VALUES ",
                              prefix);
}

std::string insert_text(std::span<const stored_event> all, const std::string& head) {
    std::string made = head;
    for (const auto& one : all) {
        made += made.size() == head.size() ? "(" : ",(";
        mysql::add_number(made, one.shard);
        for (const auto* part :
             {&one.id, &one.topic, &one.key, &one.headers, &one.trace_context, &one.payload}) {
            made += ',';
            mysql::add_hex(made, *part);
        }
        made.append(",").append(clock).append(",").append(clock).append(")");
    }
    return made;
}

// Sorted, so that two relays touch the same rows in the same order.
std::string id_list(std::span<const std::int64_t> ids) {
    std::vector<std::int64_t> sorted{ids.begin(), ids.end()};
    std::sort(sorted.begin(), sorted.end());
    std::string made = "(";
    for (const std::int64_t one : sorted) {
        if (made.size() > 1) made += ',';
        mysql::add_number(made, one);
    }
    return made + ")";
}

std::string columns() {
    return "id,shard_id,attempts,created_at,event_id,topic,message_key,headers,trace_context,"
           "payload";
}

std::string owner_text(const owner_id& owner) {
    std::string made;
    mysql::add_hex(made, mysql::owner_bytes(owner));
    return made;
}

std::string range(const claim_request& which) {
    const std::string shard = " WHERE shard_id=" + number_text(which.shard);
    switch (which.range) {
    case claim_range::fresh:
        return shard + " AND status=0 AND next_retry_time=0 AND lock_until=0 AND id>" +
               number_text(which.after) + index_order + limit(which);
    case claim_range::due:
        return shard +
               " AND status=0 AND next_retry_time>0 AND next_retry_time<=" + std::string{clock} +
               index_order + limit(which);
    case claim_range::expired:
        return shard + lapsed() + " AND attempts<" + number_text(often) + index_order +
               limit(which);
    case claim_range::expired_often: break;
    }
    return shard + lapsed() + " AND attempts>=" + number_text(often) + index_order + limit(which);
}

// The claimed ids come first, by word: with few rows the planner would begin with the table, walk
// all of it and wait for rows that others have locked.
std::string claim(const claim_request& which) {
    return "UPDATE (SELECT id FROM semel_outbox FORCE INDEX (idx_claim)" + range(which) +
           " FOR UPDATE SKIP LOCKED) c STRAIGHT_JOIN semel_outbox o FORCE INDEX (PRIMARY) ON "
           "o.id=c.id SET o.status=1,o.lock_owner=" +
           owner_text(which.by.owner) + ",o.lock_token=" + number_text(which.by.token) +
           ",o.attempts=o.attempts+1,o.next_retry_time=0,o.lock_time=@n,o.lock_until=@n+" +
           number_text(which.lease.count()) + ",o.updated_at=@n";
}

std::string claimed(const claim_request& which) {
    return "SELECT " + columns() +
           " FROM semel_outbox FORCE INDEX (idx_claim) WHERE shard_id=" + number_text(which.shard) +
           " AND status=1 AND next_retry_time=0 AND lock_until=@n+" +
           number_text(which.lease.count()) + " AND lock_owner=" + owner_text(which.by.owner) +
           " AND lock_token=" + number_text(which.by.token) + " ORDER BY id";
}

std::string lock_guard(const row_lock& by) {
    return " AND status=1 AND lock_owner=" + owner_text(by.owner) +
           " AND lock_token=" + number_text(by.token);
}

std::string shard_guard(const shard_lock& by) {
    return " AND shard_id=" + number_text(by.shard) +
           " AND EXISTS (SELECT 1 FROM semel_outbox_shard s WHERE s.shard_id=" +
           number_text(by.shard) + " AND s.owner=" + owner_text(by.owner) +
           " AND s.epoch=" + number_text(by.epoch) + ")";
}

std::vector<std::string> settle(const settlement& last, const std::string& guard, on_ack ack) {
    std::vector<std::string> made;
    for (const auto& one : last.back) made.push_back(give_back(one, guard));
    if (last.done.empty()) return made;
    const std::string which = " WHERE id IN " + id_list(last.done) + guard;
    if (ack == on_ack::archive) {
        made.push_back("INSERT IGNORE INTO semel_outbox_archive (archived_at," + columns() +
                       ") SELECT @n," + columns() + " FROM semel_outbox" + which);
    }
    // Of a small table the planner would rather read everything, and wait for what is locked.
    made.push_back("DELETE o FROM semel_outbox o FORCE INDEX (PRIMARY)" + which);
    return made;
}

std::string give_back(const returned_row& row, const std::string& guard) {
    std::string made =
        "UPDATE semel_outbox SET status=" + number_text(static_cast<std::int64_t>(row.as)) +
        ",lock_until=0,attempts=attempts+" + number_text(row.tries) +
        ",updated_at=@n,next_retry_time=" +
        (row.delay > duration::zero() ? "@n+" + number_text(row.delay.count()) : std::string{"0"});
    if (!row.error.empty()) {
        made += ",last_error=";
        mysql::add_hex(made, row.error); // no text that could hold the name of a table
    }
    return made + " WHERE id=" + number_text(row.row) + guard;
}

} // namespace semel::outbox::my
