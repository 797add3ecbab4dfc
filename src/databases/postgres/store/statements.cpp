#include "databases/postgres/store/statements.hpp"

#include "databases/postgres/client/schema.hpp"

namespace semel::postgres {

namespace {

constexpr type bytes = type::bytea;
constexpr type number = type::int8;
constexpr type owner = type::uuid;
constexpr type version = type::xid;
constexpr type place = type::tid;

// Running records do not expire. The condition is there so that the index in the order of leases is
// used.
std::string running() {
    return "state = 0 AND expires_at = 0";
}

// The lowest fence of an `insert` whose records were all new, else 0; for the rest of the
// transaction.
constexpr const char* least_fence = "'semel.least_fence'";

// "unnest($1::bytea[], $2::bytea[], …)", counting on from `next`.
std::string unnest(const group_types& types, int& next) {
    std::string made = "unnest(";
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (i > 0) made += ", ";
        made += "$" + std::to_string(next++) + "::" + std::string{name(types[i])} + "[]";
    }
    return made + ")";
}

// The server's time in microseconds, once per statement. clock_timestamp() and not now(): that is
// when the transaction began, and a lease must not be shorter for what it waited for.
std::string server_clock() {
    return "(SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now OFFSET 0) n";
}

std::string fence_floor() {
    return "(SELECT value FROM semel_meta WHERE name = 'fence_floor')";
}

std::string same_record(const std::string& one, const std::string& other) {
    return one + ".tenant = " + other + ".tenant AND " + one + ".operation = " + other +
           ".operation AND " + one + ".key = " + other + ".key";
}

std::string column_list(const std::string& of) {
    std::string made;
    for (const auto& column : record_columns) {
        if (!made.empty()) made += ", ";
        made += of + std::string{column.name};
    }
    return made;
}

std::string assignment_list() {
    std::string made;
    for (const auto& column : record_columns) {
        if (!made.empty()) made += ", ";
        made += std::string{column.name} + " = q." + std::string{column.name};
    }
    return made;
}

// `state + 0`: the condition must not tempt the planner to walk the index of what is due
// instead of the key.
constexpr const char* still_claimed =
    " AND r.fence = q.fence AND r.owner = q.owner AND r.state + 0 = 0";

// An owner's command finds its own claim.
std::string own_claim() {
    return " WHERE " + same_record("r", "q") + still_claimed;
}

// The same, by the place of its row. Nor is the planner to go by the key then.
std::string own_claim_there() {
    return std::string{" WHERE r.ctid = q.place AND r.key IS NOT DISTINCT FROM q.key AND "
                       "r.operation IS NOT DISTINCT FROM q.operation AND "
                       "r.tenant IS NOT DISTINCT FROM q.tenant"} +
           still_claimed;
}

// A statement with one group of rows, written as with_rows() says.
batch_statement over_rows(std::string name, const batch_columns& columns, std::string_view text) {
    group_types types;
    for (const auto& column : columns) types.push_back(column.of);
    return {.name = std::move(name), .text = with_rows(text, columns), .groups = {types}};
}

// Of a record id, and further ones.
batch_columns id_and(const batch_columns& further) {
    batch_columns made{{"tenant", bytes}, {"operation", bytes}, {"key", bytes}};
    made.insert(made.end(), further.begin(), further.end());
    return made;
}

batch_statement make_insert() {
    return over_rows(
        "semel_insert",
        id_and({{"now", number},
                {"owner", owner},
                {"lease", number},
                {"on_lease_expiry", number},
                {"attempts_max", number},
                {"grace", number},
                {"processing_max", number},
                {"fingerprint", bytes},
                {"attributes", bytes}}),
        "WITH i AS (INSERT INTO semel_record (tenant, operation, key, fence, owner, lease_until, "
        "begun_at, created_at, updated_at, on_lease_expiry, attempts_max, grace, processing_max, "
        "fingerprint, attributes) SELECT q.tenant, q.operation, q.key, greatest(t.now, 1 + " +
            fence_floor() +
            "), q.owner, t.now + q.lease, t.now, t.now, t.now, q.on_lease_expiry, q.attempts_max, "
            "q.grace, q.processing_max, q.fingerprint, coalesce(q.attributes, '') FROM rows q "
            "CROSS JOIN " +
            server_clock() +
            " CROSS JOIN LATERAL (SELECT coalesce(q.now, n.now) AS now OFFSET 0) t "
            "ON CONFLICT DO NOTHING RETURNING tenant, operation, key, fence, begun_at, ctid), "
            "s AS (SELECT set_config(" +
            least_fence +
            ", CASE count(*) WHEN cardinality($1) THEN min(fence) ELSE 0 END::text, true) "
            "FROM i) SELECT i.* FROM s CROSS JOIN i");
}

batch_statement make_insert_new() {
    return over_rows(
        "semel_insert_new",
        id_and({{"owner", owner},
                {"lease", number},
                {"on_lease_expiry", number},
                {"attempts_max", number},
                {"grace", number},
                {"processing_max", number},
                {"fingerprint", bytes},
                {"attributes", bytes}}),
        "INSERT INTO semel_record (tenant, operation, key, fence, owner, lease_until, begun_at, "
        "created_at, updated_at, on_lease_expiry, attempts_max, grace, processing_max, "
        "fingerprint, attributes) SELECT q.tenant, q.operation, q.key, n.now, q.owner, n.now + "
        "q.lease, n.now, n.now, n.now, q.on_lease_expiry, q.attempts_max, q.grace, "
        "q.processing_max, q.fingerprint, coalesce(q.attributes, '') FROM rows q CROSS JOIN " +
            server_clock() + " RETURNING owner, begun_at, ctid");
}

// What a completion brings along, wherever it finds its record.
std::string completed(const std::string& found) {
    return "UPDATE semel_record r SET state = 1, updated_at = coalesce(q.now, n.now), "
           "expires_at = coalesce(q.now, n.now) + q.retention, result_kind = q.kind, "
           "result_checksum = q.checksum, result_type = coalesce(q.type, ''), "
           "result_ref = coalesce(q.ref, ''), result = q.body FROM rows q CROSS JOIN " +
           server_clock() + found + " AND r.checkpoints = 0 RETURNING q.row, r.updated_at";
}

batch_columns completion() {
    return id_and({{"now", number},
                   {"fence", number},
                   {"owner", owner},
                   {"retention", number},
                   {"kind", number},
                   {"checksum", number},
                   {"type", bytes},
                   {"ref", bytes},
                   {"body", bytes}});
}

batch_statement make_complete() {
    return over_rows("semel_complete", completion(), completed(own_claim()));
}

batch_statement make_complete_there() {
    batch_columns columns = completion();
    columns.push_back({"place", place});
    return over_rows("semel_complete_there", columns, completed(own_claim_there()));
}

batch_statement make_fail() {
    return over_rows("semel_fail",
                     id_and({{"now", number},
                             {"fence", number},
                             {"owner", owner},
                             {"state", number},
                             {"retention", number},
                             {"retry_after", number},
                             {"error", bytes}}),
                     "UPDATE semel_record r SET state = q.state, "
                     "updated_at = coalesce(q.now, n.now), "
                     "expires_at = coalesce(q.now, n.now) + q.retention, retry_after = "
                     "CASE q.state WHEN 2 THEN coalesce(q.now, n.now) + q.retry_after "
                     "ELSE r.retry_after END, error = q.error FROM rows q CROSS JOIN " +
                         server_clock() + own_claim() +
                         " AND (r.checkpoints = 0 OR q.state = 2) RETURNING q.row, r.updated_at");
}

batch_statement make_renew() {
    return over_rows(
        "semel_renew",
        id_and({{"now", number}, {"fence", number}, {"owner", owner}, {"lease", number}}),
        "UPDATE semel_record r SET updated_at = coalesce(q.now, n.now), "
        "lease_until = greatest(r.lease_until, least(coalesce(q.now, n.now) + q.lease, "
        "r.begun_at + r.processing_max)) FROM rows q CROSS JOIN " +
            server_clock() + own_claim() +
            " AND coalesce(q.now, n.now) < r.begun_at + r.processing_max "
            "RETURNING q.row, r.updated_at, r.lease_until");
}

// Checkpoints in their order; most records have none and then the table is not touched.
std::string checkpoints(const std::string& column) {
    return "CASE WHEN r.checkpoints > 0 THEN ARRAY(SELECT c." + column +
           " FROM semel_checkpoint c WHERE " + same_record("c", "r") + " ORDER BY c.position) END";
}

batch_statement load_statement(const char* name, const std::string& condition) {
    return over_rows(name, id_and({{"now", number}}),
                     "SELECT q.row, coalesce(q.now, n.now), " + fence_floor() + ", r.xmin, " +
                         column_list("r.") + ", " + checkpoints("name") + ", " +
                         checkpoints("data") + " FROM rows q CROSS JOIN " + server_clock() +
                         " LEFT JOIN semel_record r ON " + same_record("r", "q") + condition);
}

batch_statement make_load() {
    return load_statement("semel_load", "");
}

// Where all were new it looks at nothing: its first condition is judged once.
batch_statement make_load_rest() {
    return load_statement("semel_load_rest",
                          " WHERE (SELECT current_setting(" + std::string{least_fence} +
                              ")::bigint) <= " + fence_floor() +
                              " AND (r.fence IS NULL OR r.fence <= " + fence_floor() +
                              " OR r.xmin IS DISTINCT FROM "
                              "(SELECT pg_current_xact_id_if_assigned()::xid))");
}

group_types audit_group() {
    return {number, number, bytes, bytes, bytes, number, number, number};
}

std::string add_audit(int& next, const std::string& changed) {
    return "a AS (INSERT INTO semel_audit (tenant, operation, key, at, act, actor, reason, fence, "
           "from_state, to_state) SELECT x.tenant, x.operation, x.key, e.at, e.act, e.actor, "
           "e.reason, e.fence, e.from_state, e.to_state FROM " +
           unnest(audit_group(), next) +
           " AS e (row, at, act, actor, reason, fence, from_state, to_state) JOIN " + changed +
           " x ON x.row = e.row)";
}

batch_statement make_save() {
    group_types group{bytes, bytes, bytes, version, number};
    for (const auto& column : record_columns) group.push_back(column.of);
    const group_types steps{number, number, bytes, bytes};
    int next = 1;
    std::string text = "WITH u AS (UPDATE semel_record r SET " + assignment_list() + " FROM " +
                       unnest(group, next) +
                       " WITH ORDINALITY AS q (tenant, operation, key, version, forgets, " +
                       column_list("") + ", row) WHERE " + same_record("r", "q") +
                       " AND r.xmin = q.version "
                       "RETURNING q.row, r.tenant, r.operation, r.key, q.forgets), ";
    text += "f AS (DELETE FROM semel_checkpoint c USING u WHERE u.forgets = 1 AND " +
            same_record("c", "u") + "), ";
    text += "k AS (INSERT INTO semel_checkpoint (tenant, operation, key, position, name, data) "
            "SELECT u.tenant, u.operation, u.key, s.position, s.name, s.data FROM " +
            unnest(steps, next) + " AS s (row, position, name, data) JOIN u ON u.row = s.row), ";
    text += add_audit(next, "u") + " SELECT row FROM u";
    return {.name = "semel_save", .text = std::move(text), .groups = {group, steps, audit_group()}};
}

batch_statement make_erase() {
    const group_types group{bytes, bytes, bytes, version};
    int next = 1;
    std::string text = "WITH d AS (DELETE FROM semel_record r USING " + unnest(group, next) +
                       " WITH ORDINALITY AS q (tenant, operation, key, version, row) WHERE " +
                       same_record("r", "q") +
                       " AND r.xmin = q.version RETURNING q.row, r.tenant, r.operation, r.key), ";
    text += "f AS (DELETE FROM semel_checkpoint c USING d WHERE " + same_record("c", "d") + "), ";
    text += add_audit(next, "d") + " SELECT row FROM d";
    return {.name = "semel_erase", .text = std::move(text), .groups = {group, audit_group()}};
}

// What others hold locked is left for the next sweep. The floor goes up in the same commit as the
// records go, so no transaction sees one without the other.
// Its commit waits for no disk: a crash that loses it brings back expired records and the old floor
// together, and a claim that saw them gone is in the log behind it. Records are found once, by the
// sweeper's index, and removed where they lie: they are locked, and a version that is newer than
// the statement is left for the next one.
plain_statement make_sweep(std::string name, const std::string& may_go, const std::string& order) {
    return {.name = std::move(name),
            .text = "WITH c AS MATERIALIZED (SELECT ctid AS place FROM semel_record WHERE " +
                    may_go + " ORDER BY " + order +
                    " LIMIT $2 FOR UPDATE SKIP LOCKED), "
                    "d AS (DELETE FROM semel_record r WHERE r.ctid = ANY (ARRAY(SELECT place FROM "
                    "c))"
                    " RETURNING r.tenant, r.operation, r.key, r.fence, r.checkpoints), "
                    "f AS (DELETE FROM semel_checkpoint k USING d WHERE d.checkpoints > 0 AND " +
                    same_record("k", "d") +
                    "), "
                    "m AS (UPDATE semel_meta SET value = greatest(value, (SELECT max(fence) FROM "
                    "d)) WHERE name = 'fence_floor' AND value < (SELECT max(fence) FROM d)) "
                    "SELECT count(*), set_config('synchronous_commit', 'off', true) FROM d"};
}

std::string time_or_clock(const std::string& parameter) {
    return "(SELECT coalesce(" + parameter +
           "::bigint, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint))";
}

std::string sweep_time() {
    return time_or_clock("$1");
}

std::string search_columns() {
    static_assert(record_columns.back().name == "result");
    std::string columns = column_list("r.");
    columns.resize(columns.size() - ("r." + std::string{record_columns.back().name}).size());
    return "r.tenant, r.operation, r.key, " + time_or_clock("$1") + " AS now, " + columns +
           "CASE $2::bigint WHEN 1 THEN r.result ELSE '' END AS result";
}

std::string between_ids() {
    return " (tenant, operation, key) >= ($4::bytea, $5::bytea, $6::bytea) AND "
           "(tenant, operation, key) < ($7::bytea, $8::bytea, $9::bytea) "
           "ORDER BY tenant, operation, key LIMIT $3::bigint";
}

plain_statement make_search(std::string name, const std::string& which) {
    return {.name = std::move(name),
            .text = "SELECT " + search_columns() + " FROM semel_record r WHERE" + which +
                    between_ids()};
}

plain_statement make_search_stuck() {
    return {.name = "semel_search_stuck",
            .text = "SELECT " + search_columns() + " FROM semel_record r WHERE " + running() +
                    " AND lease_until < " + time_or_clock("$1") +
                    " - $8::bigint AND (lease_until, tenant, operation, key) >= "
                    "($7::bigint, $4::bytea, $5::bytea, $6::bytea) "
                    "ORDER BY lease_until, tenant, operation, key LIMIT $3::bigint"};
}

} // namespace

statement_texts::statement_texts(std::string_view prefix)
    : insert(make_insert()),
      insert_new(make_insert_new()),
      past_floor{.name = "semel_past_floor", .text = past_floor_text},
      complete(make_complete()),
      complete_there(make_complete_there()),
      fail(make_fail()),
      renew(make_renew()),
      load(make_load()),
      load_rest(make_load_rest()),
      save(make_save()),
      erase(make_erase()),
      raise_floor{.name = "semel_raise_floor",
                  .text = "UPDATE semel_meta SET value = $1::bigint "
                          "WHERE name = 'fence_floor' AND value < $1::bigint"},
      sweep_expired(make_sweep("semel_sweep_expired",
                               "state = ANY ('{1, 2, 3}') AND expires_at <= " + sweep_time(),
                               "state, expires_at")),
      sweep_forsaken(make_sweep("semel_sweep_forsaken",
                                running() +
                                    " AND on_lease_expiry = 0 AND attempts < attempts_max "
                                    "AND lease_until < " +
                                    sweep_time() + " AND lease_until + grace < " + sweep_time() +
                                    " AND begun_at + processing_max <= " + sweep_time(),
                                "lease_until")),
      impatient{.name = "semel_impatient",
                .text = "SELECT set_config('lock_timeout', '5ms', true)"},
      audit{.name = "semel_audit",
            .text = "SELECT at, act, actor, reason, fence, from_state, to_state FROM "
                    "semel_audit WHERE tenant = $1::bytea AND operation = $2::bytea AND key = "
                    "$3::bytea ORDER BY id"},
      search_ids(make_search("semel_search_ids", "")),
      search_failed(make_search("semel_search_failed", " state >= 2 AND result_ref = '' AND")),
      search_ref(
          make_search("semel_search_ref", " result_ref = $10::bytea AND result_ref <> '' AND")),
      search_stuck(make_search_stuck()) {
    for (auto* one : {&insert, &insert_new, &complete, &complete_there, &fail, &renew, &load,
                      &load_rest, &save, &erase}) {
        one->text = with_prefix(one->text, prefix);
    }
    for (auto* one : {&past_floor, &raise_floor, &sweep_expired, &sweep_forsaken, &audit,
                      &search_ids, &search_failed, &search_ref, &search_stuck}) {
        one->text = with_prefix(one->text, prefix);
    }
}

} // namespace semel::postgres
