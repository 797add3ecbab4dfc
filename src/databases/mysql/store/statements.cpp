#include "databases/mysql/store/statements.hpp"

#include <algorithm>

#include "core/audit_code.hpp"
#include "databases/mysql/store/row.hpp"
#include "semel/base/result.hpp"
#include "semel/core/record_machine.hpp"

namespace semel::mysql {

namespace {

constexpr std::size_t id_cells = 3;

// Writes {name} by what it stands for.
template <class Meaning>
void expand(std::string& to, std::string_view text, const Meaning& meaning) {
    while (true) {
        const std::size_t open = text.find('{');
        to += text.substr(0, open);
        if (open == std::string_view::npos) return;
        const std::size_t close = text.find('}', open);
        meaning(text.substr(open + 1, close - open - 1));
        text.remove_prefix(close + 1);
    }
}

std::size_t place_of(const batch_update& what, std::string_view name) {
    const auto at = std::find(what.names.begin(), what.names.end(), name);
    SEMEL_ASSERT(at != what.names.end());
    return id_cells + static_cast<std::size_t>(at - what.names.begin());
}

// Which values an UPDATE of one row names, one after the other, without the time.
std::vector<std::size_t> places_in(const batch_update& what) {
    std::vector<std::size_t> made;
    std::string text;
    const auto add = [&](std::string_view name) {
        if (name != "now") made.push_back(place_of(what, name));
    };
    expand(text, what.changes, add);
    for (std::size_t i = 0; i < id_cells; ++i) made.push_back(i);
    expand(text, what.guard, add);
    return made;
}

// An id that is told when the statement is executed.
row_buffer any_id() {
    row_buffer made;
    made.add_row();
    for (std::size_t i = 0; i < id_cells; ++i) made.add_sql("?");
    return made;
}

// "SELECT 'a' AS a0,1 AS a1 UNION ALL SELECT 'b',2": rows as a table q.
std::string as_table(const row_buffer& rows, std::size_t cells) {
    std::string made = "SELECT ";
    for (std::size_t i = 0; i < cells; ++i) {
        if (i > 0) made += ',';
        made += rows.cell(0, i);
        made += " AS a" + std::to_string(i);
    }
    for (std::size_t at = 1; at < rows.size(); ++at) {
        made += " UNION ALL SELECT ";
        made += rows.row(at);
    }
    return made;
}

// The key of a row of q.
std::string same_key(const std::string& alias) {
    return alias + ".tenant=q.a0 AND " + alias + ".operation=q.a1 AND " + alias + ".`key`=q.a2";
}

// "(r.tenant,r.operation,r.`key`) IN (('a','b','c'),…)"
std::string one_of(const row_buffer& ids, std::string_view alias) {
    if (ids.size() == 1) return key_equals(ids, alias);
    const std::string of{alias};
    std::string made = "(" + of + "tenant," + of + "operation," + of + "`key`) IN (";
    for (std::size_t at = 0; at < ids.size(); ++at) {
        made += at == 0 ? "(" : ",(";
        made += ids.row(at);
        made += ')';
    }
    return made + ")";
}

// Seconds with three digits after the point.
std::string seconds_text(duration length) {
    const auto count = std::chrono::ceil<std::chrono::milliseconds>(length).count();
    std::string digits = std::to_string(count % 1'000);
    digits.insert(0, 3 - digits.size(), '0');
    return std::to_string(count / 1'000) + "." + digits;
}

} // namespace

std::string column_list(std::string_view alias) {
    std::string made;
    for (const auto column : record_columns) {
        if (!made.empty()) made += ',';
        made += alias;
        made += column;
    }
    return made;
}

// An owner's command finds its own claim.
const batch_update& complete_update() {
    static const batch_update made{
        .names = {"now", "fence", "owner", "retention", "kind", "checksum", "type", "ref", "body"},
        .changes = "r.version=r.version+1,r.state=1,r.updated_at={now},"
                   "r.expires_at={now}+{retention},r.due_at={now}+{retention},"
                   "r.result_kind={kind},r.result_checksum={checksum},r.result_type={type},"
                   "r.result_ref={ref},r.result={body}",
        .guard = "r.fence={fence} AND r.owner={owner} AND r.state=0 AND r.checkpoints=0"};
    return made;
}

const batch_update& fail_update() {
    static const batch_update made{
        .names = {"now", "fence", "owner", "state", "retention", "retry_after", "error"},
        .changes = "r.version=r.version+1,r.state={state},r.updated_at={now},"
                   "r.expires_at={now}+{retention},r.due_at={now}+{retention},"
                   "r.retry_after=IF({state}=2,{now}+{retry_after},r.retry_after),r.error={error}",
        .guard = "r.fence={fence} AND r.owner={owner} AND r.state=0 AND "
                 "(r.checkpoints=0 OR {state}=2)"};
    return made;
}

// With one table, assignments take effect from left to right: due_at then uses the new lease_until,
// with the same result.
const batch_update& renew_update() {
    static const batch_update made{.names = {"now", "fence", "owner", "lease"},
                                   .changes =
                                       "r.version=r.version+1,r.updated_at={now},"
                                       "r.lease_until=GREATEST(r.lease_until,LEAST({now}+{lease},"
                                       "r.begun_at+r.processing_max)),"
                                       "r.due_at=GREATEST(r.lease_until,LEAST({now}+{lease},"
                                       "r.begun_at+r.processing_max))",
                                   .guard = "r.fence={fence} AND r.owner={owner} AND r.state=0 AND "
                                            "{now}<r.begun_at+r.processing_max"};
    return made;
}

time_point due_at(const record& it) {
    return it.state == record_state::processing ? it.lease_until : it.expires_at;
}

std::string key_equals(const row_buffer& id, std::string_view alias) {
    std::string made;
    const std::string_view names[]{"tenant=", "operation=", "`key`="};
    for (std::size_t i = 0; i < id_cells; ++i) {
        if (i > 0) made += " AND ";
        made += alias;
        made += names[i];
        made += id.cell(0, i);
    }
    return made;
}

void add_record(row_buffer& to, const record& it) {
    to.add(static_cast<std::int64_t>(it.state)).add(it.holder.fence).add(it.holder.owner);
    to.add(std::int64_t{it.attempts}).add(it.lease_until).add(it.begun_at).add(it.retry_after);
    to.add(it.expires_at).add(it.created_at).add(it.updated_at);
    to.add(static_cast<std::int64_t>(it.policy.on_lease_expiry));
    to.add(std::int64_t{it.policy.attempts_max});
    to.add(it.policy.grace).add(it.policy.processing_max).add(it.content);
    to.add(static_cast<std::int64_t>(it.checkpoints.size()));
    to.add(static_cast<std::int64_t>(it.result.kind)).add(it.result.checksum);
    to.add(std::string_view{it.result.type}).add(std::string_view{it.result.ref});
    to.add(std::string_view{it.error}).add(std::string_view{it.attributes});
    to.add(std::string_view{it.result.body});
}

// ---- texts --------------------------------------------------------------------------------------

statement_texts::statement_texts(std::string_view prefix, mysql_dialect dialect)
    : dialect_(dialect),
      record_(std::string{prefix} + "record"),
      checkpoint_(std::string{prefix} + "checkpoint"),
      meta_(std::string{prefix} + "meta"),
      audit_(std::string{prefix} + "audit") {
    // For a row that every removal locks, and only briefly.
    if (dialect == mysql_dialect::mariadb) {
        briefly_ = "SET STATEMENT innodb_lock_wait_timeout=1 FOR ";
    }
    floor_ = "(SELECT value FROM " + meta_ + " WHERE name='fence_floor')";
    // IGNORE is meant for keys that exist. Other errors that it would hide cannot happen: sizes are
    // checked before, and every column gets a value that it can hold.
    insert_head_ = "INSERT IGNORE INTO " + record_ +
                   " (tenant,operation,`key`,version,fence,owner,lease_until,due_at,begun_at,"
                   "created_at,updated_at,on_lease_expiry,attempts_max,grace,processing_max,"
                   "fingerprint,attributes) ";
}

std::string_view statement_texts::clock() {
    static const std::string text = "SET @n=" + std::string{clock_expression} + ",@g=NULL";
    return text;
}

// InnoDB counts the wait for a lock in whole seconds, so it is the statement that is timed.
std::string statement_texts::timed(duration most, std::string_view one) const {
    if (!has_compound()) return std::string{one};
    return "SET STATEMENT innodb_lock_wait_timeout=" +
           std::to_string(std::chrono::ceil<std::chrono::seconds>(most).count()) +
           ",max_statement_time=" + seconds_text(most) + " FOR " + std::string{one};
}

std::string statement_texts::compound(std::string_view statements) const {
    return "BEGIN NOT ATOMIC " + std::string{statements} + ";END";
}

std::string statement_texts::update(const batch_update& what, const row_buffer& rows) const {
    std::string made;
    const bool single = rows.size() == 1;
    const auto meaning = [&](std::string_view name) {
        const std::size_t place = place_of(what, name);
        if (single) {
            made += rows.cell(0, place);
        } else {
            made += "q.a" + std::to_string(place);
        }
    };
    if (single) {
        made += "UPDATE " + record_ + " r SET ";
    } else {
        made += "UPDATE (" + as_table(rows, id_cells + what.names.size()) + ") q STRAIGHT_JOIN " +
                record_ + " r FORCE INDEX (PRIMARY) ON " + same_key("r") + " SET ";
    }
    expand(made, what.changes, meaning);
    made += " WHERE ";
    if (single) made += key_equals(rows, "r.") + " AND ";
    expand(made, what.guard, meaning);
    return made;
}

std::string statement_texts::insert(const row_buffer& rows) const {
    std::string made = insert_head_ + "VALUES ";
    for (std::size_t at = 0; at < rows.size(); ++at) {
        made += at == 0 ? "(" : ",(";
        made += rows.row(at);
        made += ')';
    }
    return made;
}

std::string statement_texts::insert_returning(const row_buffer& rows) const {
    return insert(rows) + " RETURNING version";
}

// ---- alone --------------------------------------------------------------------------------------

std::string statement_texts::prepare(open_mode mode) const {
    std::string made;
    if (mode != open_mode::read_only) {
        made += "PREPARE semel_begin FROM ";
        add_quoted(made, begin_alone_text());
        made += ";PREPARE semel_complete FROM ";
        add_quoted(made, complete_alone_text());
        made += ';';
    }
    made += "PREPARE semel_look FROM ";
    add_quoted(made, load(any_id(), with::time));
    return made;
}

// The floor is read behind the row that is inserted, which is why the look-up seems to depend on
// it: what does not depend on anything is read before. And only INSERT … SELECT reads without a
// lock.
std::string statement_texts::begin_alone_text() const {
    const std::string now{clock_expression};
    return insert_head_ + "SELECT ?,?,?,?,GREATEST(" + now + ",?),?," + now + "+?," + now + "+?," +
           now + "," + now + "," + now + ",?,?,?,?,?,? RETURNING begun_at,(SELECT m.value FROM " +
           meta_ + " m WHERE m.name=IF(" + record_ + ".fence IS NULL,'','fence_floor'))";
}

std::string statement_texts::complete_alone_text() const {
    row_buffer values = any_id();
    for (const auto name : complete_update().names) {
        values.add_sql(name == "now" ? "LAST_INSERT_ID(" + std::string{clock_expression} + ")"
                                     : "?");
    }
    return update(complete_update(), values);
}

std::string statement_texts::begin_alone(const row_buffer& row) const {
    return "EXECUTE semel_begin USING " + std::string{row.row(0)};
}

std::string statement_texts::complete_alone(const row_buffer& row) const {
    static const std::vector<std::size_t> wanted = places_in(complete_update());
    std::string made = "EXECUTE semel_complete USING ";
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (i > 0) made += ',';
        made += row.cell(0, wanted[i]);
    }
    return made;
}

std::string statement_texts::look_alone(const row_buffer& id) const {
    return "EXECUTE semel_look USING " + std::string{id.row(0)};
}

// ---- records ------------------------------------------------------------------------------------

std::string statement_texts::load(const row_buffer& ids, with what) const {
    static const std::string columns = column_list("r.");
    std::string steps = "NULL,NULL,NULL";
    std::string joined;
    // A row for each, unsorted. GROUP_CONCAT and ORDER BY may make a temporary table, and a MariaDB
    // that could not make one has crashed over it.
    if (what == with::checkpoints) {
        steps = "c.position,c.name,c.data";
        joined = " LEFT JOIN " + checkpoint_ +
                 " c FORCE INDEX (PRIMARY) ON c.tenant=r.tenant AND c.operation=r.operation AND "
                 "c.`key`=r.`key`";
    }
    const std::string now = what == with::time ? "," + std::string{clock_expression} : "";
    return "SELECT r.version," + columns + "," + steps + ",r.tenant,r.operation,r.`key`" + now +
           " FROM " + record_ + " r FORCE INDEX (PRIMARY)" + joined + " WHERE " + one_of(ids, "r.");
}

std::string statement_texts::save(const row_buffer& id, std::int64_t version,
                                  const record& after) const {
    row_buffer values;
    add_record(values.add_row(), after);
    std::string made = "UPDATE " + record_ + " SET version=version+1,due_at=";
    add_number(made, due_at(after).time_since_epoch().count());
    for (std::size_t i = 0; i < record_columns.size(); ++i) {
        made += ',';
        made += record_columns[i];
        made += '=';
        made += values.cell(0, i);
    }
    return made + " WHERE " + key_equals(id) + " AND version=" + number_text(version);
}

std::string statement_texts::erase(const row_buffer& id, std::int64_t version) const {
    return "DELETE FROM " + record_ + " WHERE " + key_equals(id) +
           " AND version=" + number_text(version);
}

std::string statement_texts::forget_checkpoints(const row_buffer& id,
                                                std::string_view saved) const {
    return "DELETE FROM " + checkpoint_ + " WHERE " + key_equals(id) + " AND " +
           std::string{saved} + "=1";
}

std::string statement_texts::add_checkpoint(const row_buffer& id, std::size_t position,
                                            const checkpoint& it, std::string_view saved) const {
    row_buffer values;
    values.add_row().add(static_cast<std::int64_t>(position)).add(std::string_view{it.name});
    values.add(std::string_view{it.data});
    return "INSERT INTO " + checkpoint_ + " (tenant,operation,`key`,position,name,data) SELECT " +
           std::string{id.row(0)} + "," + std::string{values.row(0)} + " FROM DUAL WHERE " +
           std::string{saved} + "=1";
}

std::string statement_texts::add_audit(const row_buffer& id, const audit_entry& it,
                                       std::string_view saved) const {
    row_buffer values;
    values.add_row().add(it.at).add(std::string_view{it.act}).add(std::string_view{it.actor});
    values.add(std::string_view{it.reason}).add(it.fence);
    values.add(audit_code(it.from)).add(audit_code(it.to));
    return briefly_ + "INSERT INTO " + audit_ +
           " (tenant,operation,`key`,at,act,actor,reason,fence,from_state,to_state) SELECT " +
           std::string{id.row(0)} + "," + std::string{values.row(0)} + " FROM DUAL WHERE " +
           std::string{saved} + "=1";
}

std::string statement_texts::raise_floor(std::uint64_t at_least) const {
    const std::string value = number_text(static_cast<std::int64_t>(at_least));
    return briefly_ + "UPDATE " + meta_ + " SET value=" + value +
           " WHERE name='fence_floor' AND value<" + value;
}

// ---- sweeps -------------------------------------------------------------------------------------

// A join, so that the server uses the keys: otherwise it may walk the table and wait for the locks
// of others.
std::string statement_texts::erase_all(const row_buffer& ids) const {
    return "DELETE r FROM (" + as_table(ids, id_cells) + ") q STRAIGHT_JOIN " + record_ +
           " r FORCE INDEX (PRIMARY) ON " + same_key("r");
}

std::string statement_texts::forget_all_checkpoints(const row_buffer& ids) const {
    return "DELETE c FROM (" + as_table(ids, id_cells) + ") q STRAIGHT_JOIN " + checkpoint_ +
           " c FORCE INDEX (PRIMARY) ON " + same_key("c");
}

std::string statement_texts::audit(const row_buffer& id) const {
    return "SELECT at,act,actor,reason,fence,from_state,to_state FROM " + audit_ + " WHERE " +
           key_equals(id) + " ORDER BY id";
}

} // namespace semel::mysql
