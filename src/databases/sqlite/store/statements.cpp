#include "databases/sqlite/store/statements.hpp"

#include "databases/sqlite/client/schema.hpp"
#include "databases/sqlite/store/row.hpp"

namespace semel::sqlite {

namespace {

// "state, fence, …"
std::string column_list() {
    std::string made;
    for (const auto column : record_columns) {
        if (!made.empty()) made += ", ";
        made += column;
    }
    return made;
}

// "?4, ?5, …"
std::string parameter_list(int first) {
    std::string made;
    for (std::size_t i = 0; i < record_columns.size(); ++i) {
        if (i > 0) made += ", ";
        made += "?" + std::to_string(first + static_cast<int>(i));
    }
    return made;
}

// "state = ?2, fence = ?3, …"
std::string assignment_list(int first) {
    std::string made;
    for (const auto column : record_columns) {
        if (!made.empty()) made += ", ";
        made += std::string{column} + " = ?" + std::to_string(first++);
    }
    return made;
}

const std::string id_columns = "tenant, operation, key";
// `+`: no index has these, so the planner does not walk that of the ids to save the sorting.
const std::string sorted_columns = "+tenant, +operation, +key";

std::string search_text(const std::string& which, const std::string& order) {
    static_assert(record_columns.back() == "result");
    std::string columns = column_list();
    columns.resize(columns.size() - record_columns.back().size());
    return "SELECT tenant, operation, key, " + columns +
           "CASE ?4 WHEN 1 THEN result ELSE x'' END FROM semel_record WHERE " + which +
           " ORDER BY " + order + " LIMIT ?5";
}

std::string search_by_ids(const std::string& which, const std::string& id) {
    return search_text(which + "(" + id + ") >= (?1, ?2, ?3) AND (" + id + ") < (?6, ?7, ?8)", id);
}

std::string search_by_leases() {
    const std::string order = "lease_until, " + id_columns;
    return search_text("state = 0 AND lease_until < ?6 AND (" + order + ") >= (?7, ?1, ?2, ?3)",
                       order);
}

const std::string this_record = " WHERE tenant = ?1 AND operation = ?2 AND key = ?3";

} // namespace

statement_texts::statement_texts(std::string_view prefix) {
    const auto sql = [&](const std::string& text) { return with_prefix(text, prefix); };

    insert = sql("INSERT INTO semel_record (tenant, operation, key, " + column_list() +
                 ") VALUES (?1, ?2, ?3, " + parameter_list(4) + ") ON CONFLICT DO NOTHING");
    // `+state`: the condition must not tempt the planner to walk the index of running records.
    complete = sql("UPDATE semel_record SET state = 1, updated_at = ?6, expires_at = ?7, "
                   "result_kind = ?8, result_checksum = ?9, result_type = ?10, "
                   "result_ref = ?11, result = ?12" +
                   this_record +
                   " AND fence = ?4 AND owner = ?5 AND +state = 0 "
                   "AND checkpoints = 0");
    load = sql("SELECT id, " + column_list() + " FROM semel_record" + this_record);
    save = sql("UPDATE semel_record SET " + assignment_list(2) + " WHERE id = ?1");
    erase = sql("DELETE FROM semel_record WHERE id = ?1");

    load_checkpoints =
        sql("SELECT name, data FROM semel_checkpoint WHERE record = ?1 ORDER BY position");
    add_checkpoint = sql("INSERT INTO semel_checkpoint (record, position, name, data) "
                         "VALUES (?1, ?2, ?3, ?4)");
    erase_checkpoints = sql("DELETE FROM semel_checkpoint WHERE record = ?1");

    floor = sql("SELECT value FROM semel_meta WHERE name = 'fence_floor'");
    raise_floor = sql("UPDATE semel_meta SET value = ?1 WHERE name = 'fence_floor' AND value < ?1");

    add_audit =
        sql("INSERT INTO semel_audit (tenant, operation, key, at, act, actor, reason, fence, "
            "from_state, to_state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    load_audit = sql("SELECT at, act, actor, reason, fence, from_state, to_state FROM semel_audit" +
                     this_record + " ORDER BY id");

    search_ids = sql(search_by_ids("", id_columns));
    search_failed = sql(search_by_ids("state >= 2 AND ", id_columns));
    search_ref = sql(search_by_ids("result_ref = ?9 AND result_ref <> x'' AND ", sorted_columns));
    search_stuck = sql(search_by_leases());

    find_expired = sql("SELECT id, fence, checkpoints FROM semel_record "
                       "WHERE state <> 0 AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2");
    find_forsaken = sql("SELECT id, fence, checkpoints FROM semel_record "
                        "WHERE state = 0 AND on_lease_expiry = 0 AND attempts < attempts_max "
                        "AND begun_at + processing_max <= ?1 AND lease_until + grace < ?1 "
                        "ORDER BY begun_at + processing_max LIMIT ?2");
}

} // namespace semel::sqlite
