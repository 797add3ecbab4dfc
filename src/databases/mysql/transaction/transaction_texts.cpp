#include "databases/mysql/transaction/transaction_texts.hpp"

#include <algorithm>

#include "databases/mysql/store/row.hpp"
#include "databases/mysql/store/statements.hpp"

namespace semel::mysql {

namespace {

row_buffer id_row(const record_id& id) {
    row_buffer made{quoting::hex};
    add_id(made.add_row(), id);
    return made;
}

// Seconds with six digits after the point.
std::string seconds_text(duration length) {
    const auto count = std::max<duration::rep>(0, length.count());
    std::string digits = std::to_string(count % 1'000'000);
    digits.insert(0, 6 - digits.size(), '0');
    return std::to_string(count / 1'000'000) + "." + digits;
}

// In the server's own character set, whatever the connection's is.
constexpr std::string_view current_database = "CAST(DATABASE() AS BINARY)";

std::string hex(std::string_view bytes) {
    std::string made;
    add_hex(made, bytes);
    return made;
}

} // namespace

// Locks are the server's, not the database's or the table's. Two keys of one name would only wait
// for each other.
std::string transaction_texts::lock_name(const record_id& id, std::string_view database) const {
    record_id scoped = id;
    scoped.tenant = prefix_ + '\0' + id.tenant;
    return "CONCAT('semel.',CRC32(" + std::string{database} + ")," +
           hex("." + std::to_string(hash_of(scoped))) + ")";
}

// MySQL rounds to whole seconds, and a short wait would be none.
std::string transaction_texts::take_lock(const record_id& id, duration wait,
                                         mysql_dialect spoken) const {
    const duration most = spoken == mysql_dialect::mariadb
                              ? wait
                              : duration{std::chrono::ceil<std::chrono::seconds>(wait)};
    return "SELECT GET_LOCK(" + lock_name(id, current_database) + "," + seconds_text(most) + ")";
}

std::string transaction_texts::release_lock(const record_id& id,
                                            const std::optional<std::string>& database) const {
    const std::string in = database ? hex(*database) : std::string{current_database};
    return "DO RELEASE_LOCK(" + lock_name(id, in) + ")";
}

// Both are local times: their difference is the same in every time zone. A minute, since the server
// may have been stopped between the two.
std::string transaction_texts::clock_goes() {
    return "ABS(TIMESTAMPDIFF(SECOND,NOW(),SYSDATE()))<60";
}

std::string transaction_texts::default_database() {
    return "SELECT " + std::string{current_database};
}

std::string transaction_texts::default_database_is(std::string_view name) {
    return std::string{current_database} + "=" + hex(name);
}

std::string transaction_texts::sees_committed_only(std::string_view isolation_variable) {
    return "@@" + std::string{isolation_variable} + "<>'READ-UNCOMMITTED'";
}

std::string transaction_texts::schema_version() const {
    return "SELECT value FROM " + table("meta") + " WHERE name='schema_version'";
}

std::string transaction_texts::look(const record_id& id) const {
    std::string columns = ",r.version";
    for (const auto column : record_columns) columns += ",r." + std::string{column};
    return "SELECT " + std::string{clock_expression} + ",f.value,(SELECT value FROM " +
           table("meta") + " WHERE name='schema_version')," + std::string{current_database} +
           columns + " FROM " + table("meta") + " f LEFT JOIN " + table("record") +
           " r FORCE INDEX (PRIMARY) ON " + key_equals(id_row(id), "r.") +
           " WHERE f.name='fence_floor'";
}

std::string transaction_texts::checkpoints(const record_id& id) const {
    return "SELECT name,data FROM " + table("checkpoint") + " WHERE " + key_equals(id_row(id)) +
           " ORDER BY position";
}

std::string transaction_texts::forget_checkpoints(const record_id& id) const {
    return "DELETE FROM " + table("checkpoint") + " WHERE " + key_equals(id_row(id));
}

std::string transaction_texts::insert(const record_id& id, const record& after) const {
    std::string columns;
    for (const auto column : record_columns) columns += "," + std::string{column};
    row_buffer values = id_row(id);
    values.add(new_row_version()).add(due_at(after));
    add_record(values, after);
    return "INSERT INTO " + table("record") + " (tenant,operation,`key`,version,due_at" + columns +
           ") VALUES (" + std::string{values.row(0)} + ")";
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

} // namespace semel::mysql
