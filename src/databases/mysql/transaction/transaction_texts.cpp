#include "databases/mysql/transaction/transaction_texts.hpp"

#include "databases/mysql/store/row.hpp"
#include "databases/mysql/store/statements.hpp"

namespace semel::mysql {

namespace {

row_buffer id_row(const record_id& id) {
    row_buffer made{quoting::hex};
    add_id(made.add_row(), id);
    return made;
}

// In the server's own character set, whatever the connection's is.
constexpr std::string_view current_database = "CAST(DATABASE() AS BINARY)";

} // namespace

// Both are local times: their difference is the same in every time zone. A minute, since the server
// may have been stopped between the two.
std::string transaction_texts::clock_goes() {
    return "ABS(TIMESTAMPDIFF(SECOND,NOW(),SYSDATE()))<60";
}

std::string transaction_texts::default_database() {
    return "SELECT " + std::string{current_database};
}

std::string transaction_texts::default_database_if_told() {
    return "SELECT IF(@@session_track_schema," + std::string{current_database} + ",NULL)";
}

std::string transaction_texts::default_database_is(std::string_view name) {
    std::string made{current_database};
    made += '=';
    add_hex(made, name);
    return made;
}

std::string transaction_texts::sees_committed_only(std::string_view isolation_variable) {
    return "@@" + std::string{isolation_variable} + "<>'READ-UNCOMMITTED'";
}

std::string transaction_texts::schema_version() const {
    return "SELECT value FROM " + table("meta") + " WHERE name='schema_version'";
}

// Constants for the optimizer, which subqueries would not be.
std::string transaction_texts::facts(std::string_view now) const {
    return "SELECT " + std::string{now} + ",f.value,s.value FROM " + table("meta") + " f JOIN " +
           table("meta") + " s ON s.name='schema_version' WHERE f.name='fence_floor'";
}

std::string transaction_texts::facts() const {
    std::string made = facts(clock_expression);
    return made.insert(made.find(" FROM "), "," + std::string{current_database});
}

std::string transaction_texts::look(const record_id& id, with what) const {
    return "SELECT version," + column_list("") + " FROM " + table("record") +
           " FORCE INDEX (PRIMARY) WHERE " + key_equals(id_row(id)) +
           (what == with::lock ? " FOR UPDATE" : "");
}

std::string transaction_texts::find_unlocked(const record_id& id) const {
    return "SELECT 1 FROM " + table("record") + " WHERE " + key_equals(id_row(id)) +
           " FOR UPDATE NOWAIT";
}

std::string transaction_texts::checkpoints(const record_id& id) const {
    return "SELECT name,data FROM " + table("checkpoint") + " WHERE " + key_equals(id_row(id)) +
           " ORDER BY position";
}

std::string transaction_texts::forget_checkpoints(const record_id& id) const {
    return "DELETE FROM " + table("checkpoint") + " WHERE " + key_equals(id_row(id));
}

std::string transaction_texts::claim(const row_buffer& row, std::string_view now) const {
    const auto cells = [&](std::size_t first, std::size_t last) {
        std::string made;
        for (std::size_t i = first; i <= last; ++i) {
            if (i > first) made += ',';
            made += row.cell(0, i);
        }
        return made;
    };
    const std::string time{now};
    return "INSERT INTO " + table("record") +
           " (tenant,operation,`key`,version,state,fence,owner,expires_at,lease_until,due_at,"
           "begun_at,created_at,updated_at,on_lease_expiry,attempts_max,grace,processing_max) "
           "VALUES (" +
           cells(0, 3) + ",1,0,'',1," + time + "+" + cells(4, 4) + "," + time + "+" + cells(5, 5) +
           "," + time + "," + time + "," + time + "," + cells(6, 9) + ")";
}

std::string transaction_texts::finish() const {
    return "UPDATE " + table("record") +
           " SET version=version+1,fence=?,owner=?,fingerprint=?,expires_at=?,result_kind=?,"
           "result_checksum=?,result_type=?,result_ref=?,result=? WHERE tenant=? AND operation=? "
           "AND `key`=? AND version=?";
}

std::string transaction_texts::update(const record_id& id, const record& after,
                                      std::int64_t seen_version) const {
    row_buffer values{quoting::hex};
    values.add_row().add(due_at(after));
    add_record(values, after);
    std::string made = "UPDATE " + table("record") + " SET version=version+1,due_at=";
    made += values.cell(0, 0);
    for (std::size_t i = 0; i < record_columns.size(); ++i) {
        made += "," + std::string{record_columns[i]} + "=";
        made += values.cell(0, i + 1);
    }
    // The guard reads the row as it was: in MariaDB an assignment before it does not count here.
    return made + " WHERE " + key_equals(id_row(id)) + " AND version=" + number_text(seen_version);
}

std::string transaction_texts::find_claim(const record_id& id, std::int64_t version) const {
    return "SELECT 1 FROM " + table("record") + " WHERE " + key_equals(id_row(id)) +
           " AND version=" + number_text(version);
}

std::string transaction_texts::remove_claim(const record_id& id, std::int64_t version) const {
    return "DELETE FROM " + table("record") + " WHERE " + key_equals(id_row(id)) +
           " AND version=" + number_text(version);
}

} // namespace semel::mysql
