#include "databases/postgres/outbox/statements.hpp"

#include "databases/postgres/client/schema.hpp"

namespace semel::outbox::pg {

namespace {

// The server's time in microseconds, once per statement.
constexpr std::string_view clock_cte =
    "n AS MATERIALIZED (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now)";
constexpr std::string_view clock_value =
    "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint";

std::string columns(const std::string& of) {
    std::string made;
    for (const char* one : {"id", "shard_id", "attempts", "created_at", "event_id", "topic",
                            "message_key", "headers", "trace_context", "payload"}) {
        made += (made.empty() ? "" : ", ") + of + one;
    }
    return made;
}

// `status + 0` where rows are found by their id: the index of claims is not for that.

// One range of idx_claim each, in its order. A plain `next_retry_time = 0 … ORDER BY id` would
// tempt the planner to walk the primary key through all other shards; hence the row comparison.
std::string range(claim_range which, const std::string& after) {
    const std::string order = " ORDER BY next_retry_time, lock_until, id";
    const std::string now = "(SELECT now FROM n)";
    switch (which) {
    case claim_range::fresh:
        return "status = 0 AND next_retry_time <= 0 AND (next_retry_time, lock_until, id) > "
               "(0::bigint, 0::bigint, " +
               after + ")" + order;
    case claim_range::due:
        return "status = 0 AND next_retry_time > 0 AND next_retry_time <= " + now + " AND id > " +
               after + order;
    case claim_range::expired:
        return "status = 1 AND next_retry_time = 0 AND lock_until <= " + now + " AND attempts < " +
               std::to_string(often) + " AND id > " + after + order;
    case claim_range::expired_often: break;
    }
    return "status = 1 AND next_retry_time = 0 AND lock_until <= " + now +
           " AND attempts >= " + std::to_string(often) + " AND id > " + after + order;
}

std::string removal(const std::string& which, on_ack ack) {
    const std::string gone = "done AS (DELETE FROM semel_outbox o WHERE " + which;
    if (ack == on_ack::remove) return gone + " RETURNING 1)";
    return gone + " RETURNING " + columns("o.") +
           "), kept AS (INSERT INTO semel_outbox_archive (archived_at, " + columns("") +
           ") SELECT " + std::string{clock_value} + ", " + columns("") +
           " FROM done ON CONFLICT (id) DO NOTHING)";
}

std::string claim_text(claim_range which, on_ack ack) {
    return "WITH " +
           removal("o.id = ANY($7::bigint[]) AND o.lock_owner = $2::uuid AND o.lock_token = "
                   "$8::bigint AND o.status + 0 = 1",
                   ack) +
           ", " + std::string{clock_cte} +
           ", c AS (SELECT id FROM semel_outbox WHERE shard_id = $1::bigint AND " +
           range(which, "$5::bigint") +
           " LIMIT $6::bigint FOR NO KEY UPDATE SKIP LOCKED), u AS (UPDATE semel_outbox o SET "
           "status = 1, lock_owner = $2::uuid, lock_token = "
           "$3::bigint, attempts = o.attempts + 1, next_retry_time = 0, lock_time = n.now, "
           "lock_until = n.now + $4::bigint, updated_at = n.now FROM c, n WHERE o.id = c.id "
           "RETURNING " +
           columns("o.") +
           ") SELECT (SELECT count(*) FROM done), (SELECT count(*) FROM c), u.* FROM (SELECT 1) "
           "one LEFT JOIN u ON true";
}

std::string returned_rows(int first) {
    const auto at = [&](int i) { return "$" + std::to_string(first + i); };
    return " FROM unnest(" + at(0) + "::bigint[], " + at(1) + "::bigint[], " + at(2) +
           "::bigint[], " + at(3) + "::bigint[], " + at(4) +
           "::bytea[]) q (id, status, delay, tries, error), n WHERE o.id = q.id AND ";
}

constexpr std::string_view return_row =
    " UPDATE semel_outbox o SET status = q.status, lock_until = 0, next_retry_time = CASE WHEN "
    "q.delay > 0 THEN n.now + q.delay ELSE 0 END, attempts = o.attempts + q.tries, last_error = "
    "CASE WHEN q.error = '' THEN o.last_error ELSE q.error END, updated_at = n.now";

constexpr std::string_view owned =
    "EXISTS (SELECT 1 FROM semel_outbox_shard s WHERE s.shard_id = $1::bigint AND s.owner = "
    "$2::uuid AND s.epoch = $3::bigint)";

std::string with_clock(const std::string& text) {
    return "WITH " + std::string{clock_cte} + text;
}

std::string view_text(const std::string& where) {
    return "SELECT " + columns("") +
           ", status, next_retry_time, lock_until, updated_at, last_error FROM semel_outbox "
           "WHERE " +
           where;
}

} // namespace

std::string insert_text(std::string_view prefix) {
    return postgres::with_prefix(
        "INSERT INTO semel_outbox (shard_id, event_id, topic, message_key, headers, "
        "trace_context, payload, created_at, updated_at) SELECT q.*, n.now, n.now FROM "
        "unnest($1::bigint[], $2::text[], $3::text[], $4::bytea[], $5::bytea[], $6::bytea[], "
        "$7::bytea[]) q, (SELECT " +
            std::string{clock_value} + " AS now OFFSET 0) n",
        prefix);
}

void putter::operator()(text& to, const std::string& name, const std::string& sql) const {
    to = {.name = "semel_outbox_" + name, .sql = postgres::with_prefix(sql, prefix_)};
}

statement_texts::statement_texts(std::string_view prefix, on_ack ack) {
    const putter put{prefix};
    add_parallel(put, ack);
    add_shards(put);
    add_ordered(put, ack);
    add_operators(put);
}

void statement_texts::add_parallel(const putter& put, on_ack ack) {
    for (std::size_t i = 0; i < claim.size(); ++i) {
        put(claim[i], "claim_" + std::to_string(i), claim_text(static_cast<claim_range>(i), ack));
    }
    put(settle, "settle",
        "WITH " +
            removal("o.id = ANY($3::bigint[]) AND o.lock_owner = $1::uuid AND o.lock_token = "
                    "$2::bigint AND o.status + 0 = 1",
                    ack) +
            " SELECT count(*) FROM done");
    put(give_back, "give_back",
        with_clock(std::string{return_row} + returned_rows(3) +
                   "o.lock_owner = $1::uuid AND o.lock_token = $2::bigint AND o.status + 0 = 1 "
                   "RETURNING o.id"));
    put(renew, "renew",
        with_clock(" UPDATE semel_outbox o SET lock_until = n.now + $4::bigint, updated_at = n.now "
                   "FROM n WHERE o.id = ANY($3::bigint[]) AND o.lock_owner = $1::uuid AND "
                   "o.lock_token = $2::bigint AND o.status + 0 = 1 RETURNING o.id"));
    put(release, "release",
        "UPDATE semel_outbox SET status = 0, lock_until = 0, attempts = attempts - 1 WHERE "
        "shard_id = $1::bigint AND status = 1 AND next_retry_time = 0 AND lock_owner = $2::uuid "
        "AND lock_token = $3::bigint RETURNING id");
    put(shards_used, "shards_used",
        "SELECT coalesce(max(shard_id) + 1, 0) FROM semel_outbox WHERE status < 2");
}

void statement_texts::add_shards(const putter& put) {
    put(attend_self, "attend_self",
        with_clock(" INSERT INTO semel_outbox_shard AS s (shard_id, owner, lock_until, updated_at) "
                   "SELECT $1::bigint, $2::uuid, n.now + $3::bigint, n.now FROM n ON CONFLICT "
                   "(shard_id) DO UPDATE SET owner = excluded.owner, lock_until = "
                   "excluded.lock_until, updated_at = excluded.updated_at"));
    put(attend_shards, "attend_shards",
        "INSERT INTO semel_outbox_shard (shard_id) SELECT g FROM generate_series(0, $1::bigint - "
        "1) g WHERE NOT EXISTS (SELECT 1 FROM semel_outbox_shard WHERE shard_id = g) ON CONFLICT "
        "DO NOTHING");
    put(attend_own, "attend_own",
        with_clock(" UPDATE semel_outbox_shard s SET lock_until = n.now + $2::bigint FROM n WHERE "
                   "s.owner = $1::uuid AND s.shard_id >= 0 AND s.lock_until > 0 RETURNING "
                   "s.shard_id"));
    put(attend_all, "attend_all",
        with_clock(" SELECT s.shard_id, (s.lock_until <= n.now)::int FROM semel_outbox_shard s, n "
                   "ORDER BY s.shard_id"));
    put(take, "take",
        with_clock(
            ", b AS (SELECT shard_id, lock_until FROM semel_outbox_shard WHERE shard_id = "
            "$1::bigint AND (lock_until <= (SELECT now FROM n) OR owner = $2::uuid) FOR UPDATE "
            "SKIP LOCKED) "
            "UPDATE semel_outbox_shard s SET owner = $2::uuid, epoch = s.epoch + 1, "
            "lock_until = n.now + $3::bigint, updated_at = n.now FROM b, n WHERE "
            "s.shard_id = b.shard_id RETURNING s.epoch, b.lock_until"));
    put(give_shard, "give_shard",
        "UPDATE semel_outbox_shard SET lock_until = 0 WHERE shard_id = $1::bigint AND owner = "
        "$2::uuid AND epoch = $3::bigint");
    put(leave, "leave",
        with_clock(
            " DELETE FROM semel_outbox_shard WHERE (shard_id = $1::bigint AND owner = "
            "$2::uuid) OR (shard_id < 0 AND lock_until < (SELECT now FROM n) - 3600000000)"));
}

void statement_texts::add_ordered(const putter& put, on_ack ack) {
    put(tidy_retries, "tidy_retries",
        "UPDATE semel_outbox SET next_retry_time = 0 WHERE shard_id = $1::bigint AND status = 0 "
        "AND next_retry_time > 0 AND " +
            std::string{owned});
    put(tidy_claims, "tidy_claims",
        with_clock(" UPDATE semel_outbox SET status = 0, lock_until = 0 WHERE shard_id = "
                   "$1::bigint AND status = 1 AND next_retry_time = 0 AND lock_until <= (SELECT "
                   "now FROM n) AND " +
                   std::string{owned}));
    put(tidy_parked, "tidy_parked",
        "UPDATE semel_outbox o SET status = 0 WHERE shard_id = $1::bigint AND status = 3 AND NOT "
        "EXISTS (SELECT 1 FROM semel_outbox d WHERE d.shard_id = $1::bigint AND d.status = 2 AND "
        "d.message_key = o.message_key) AND " +
            std::string{owned});
    put(dead_keys, "dead_keys",
        "SELECT DISTINCT message_key FROM semel_outbox WHERE shard_id = $1::bigint AND status = "
        "2");
    put(settle_ordered, "settle_ordered",
        "WITH " +
            removal("o.id = ANY($4::bigint[]) AND o.shard_id = $1::bigint AND " +
                        std::string{owned},
                    ack) +
            " SELECT count(*) FROM done");
    put(give_back_ordered, "give_back_ordered",
        with_clock(std::string{return_row} + returned_rows(4) + "o.shard_id = $1::bigint AND " +
                   std::string{owned} + " RETURNING o.id"));
    put(read, "read",
        "SELECT " + columns("") + " FROM semel_outbox WHERE shard_id = $1::bigint AND " +
            range(claim_range::fresh, "$2::bigint") + " LIMIT $3::bigint");
}

void statement_texts::add_operators(const putter& put) {
    put(list, "list",
        view_text("id > $3::bigint AND ($1::bigint < 0 OR status = $1::bigint) AND ($2::text = '' "
                  "OR topic = $2::text) ORDER BY id LIMIT $4::bigint"));
    put(show, "show", view_text("id = $1::bigint"));
    put(requeue, "requeue",
        with_clock(" UPDATE semel_outbox o SET status = 0, attempts = 0, next_retry_time = 0, "
                   "lock_until = 0, updated_at = n.now FROM n WHERE status = 2 AND ($2::bigint = 1 "
                   "OR id = ANY($1::bigint[])) RETURNING o.id"));
    put(drop, "drop",
        "DELETE FROM semel_outbox WHERE id = ANY($1::bigint[]) AND status <> 1 RETURNING id");
    put(measure, "measure",
        with_clock(" SELECT (SELECT count(*) FROM (SELECT 1 FROM semel_outbox WHERE status <> 2 "
                   "LIMIT $1::bigint) w), (SELECT count(*) FROM (SELECT 1 FROM semel_outbox WHERE "
                   "status = 2 LIMIT $1::bigint) d), coalesce(n.now - (SELECT created_at FROM "
                   "semel_outbox WHERE status <> 2 ORDER BY id LIMIT 1), 0) FROM n"));
}

std::vector<const text*> statement_texts::all() const {
    std::vector<const text*> made;
    for (const auto& one : claim) made.push_back(&one);
    for (const text* one : {&settle,        &give_back,      &renew,
                            &release,       &shards_used,    &attend_self,
                            &attend_shards, &attend_own,     &attend_all,
                            &take,          &give_shard,     &leave,
                            &tidy_retries,  &tidy_claims,    &tidy_parked,
                            &dead_keys,     &settle_ordered, &give_back_ordered,
                            &read,          &list,           &show,
                            &requeue,       &drop,           &measure}) {
        made.push_back(one);
    }
    return made;
}

} // namespace semel::outbox::pg
