// What finds many records, or makes sure that they can be found.
#include "databases/mysql/store/row.hpp"
#include "databases/mysql/store/statements.hpp"

namespace semel::mysql {

namespace {

// "(tenant>'a' OR (tenant='a' AND (operation>'b' OR …)))": spelled out, since the server finds no
// range of the index in (tenant,operation,`key`)>=('a','b','c').
struct direction {
    std::string side;
    std::string end; // for the key
};
std::string beyond(const record_id& id, const direction& to) {
    row_buffer bounds;
    add_id(bounds.add_row(), id);
    const auto part = [&](const std::string& how, std::size_t column) {
        return how + std::string{bounds.cell(0, column)};
    };
    return "(tenant" + part(to.side, 0) + " OR (tenant" + part("=", 0) + " AND (operation" +
           part(to.side, 1) + " OR (operation" + part("=", 1) + " AND `key`" + part(to.end, 2) +
           "))))";
}

} // namespace

std::string statement_texts::find_expired(int state, std::string_view now, std::size_t most) const {
    return "SELECT tenant,operation,`key`,fence,checkpoints FROM " + record_ +
           " FORCE INDEX (due) WHERE state=" + std::to_string(state) +
           " AND due_at<=" + std::string{now} + " ORDER BY due_at LIMIT " + std::to_string(most) +
           " FOR UPDATE SKIP LOCKED";
}

std::string statement_texts::find_forsaken(std::string_view now, std::size_t most) const {
    const std::string at{now};
    return "SELECT tenant,operation,`key`,fence,checkpoints FROM " + record_ +
           " FORCE INDEX (due) WHERE state=0 AND due_at<" + at +
           " AND on_lease_expiry=0 AND attempts<attempts_max AND lease_until+grace<" + at +
           " AND begun_at+processing_max<=" + at + " ORDER BY due_at LIMIT " +
           std::to_string(most) + " FOR UPDATE SKIP LOCKED";
}

std::string statement_texts::find_unlocked(const row_buffer& id) const {
    return "SELECT 1 FROM " + record_ + " FORCE INDEX (PRIMARY) WHERE " + key_equals(id) +
           " FOR UPDATE NOWAIT";
}

std::string statement_texts::search(const record_query& query, const row_request& which,
                                    std::string_view now) const {
    static_assert(record_columns.back() == "result");
    std::string columns = column_list("");
    if (query.results == result_bodies::left_out) {
        columns.replace(columns.size() - record_columns.back().size(), std::string::npos, "''");
    }
    const auto select = [&](const auto& index, const std::string& rows, const auto& order) {
        return "SELECT tenant,operation,`key`," + std::string{now} + "," + columns + " FROM " +
               record_ + " FORCE INDEX (" + index + ") WHERE " + rows + " ORDER BY " + order +
               "tenant,operation,`key` LIMIT " + std::to_string(which.most);
    };
    const std::string from = beyond(which.from, {.side = ">", .end = ">="});
    if (which.by == row_request::path::stuck) {
        const std::string time = number_text(which.leases_from.time_since_epoch().count());
        const std::string until = std::string{now} + "-" + number_text(query.stuck_for->count());
        const std::string rows = "state=0 AND due_at<" + until + " AND due_at>=" + time;
        return select("due", rows + " AND (due_at>" + time + " OR " + from + ")", "due_at,");
    }
    const std::string between = from + " AND " + beyond(which.until, {.side = "<", .end = "<"});
    if (which.by != row_request::path::result_ref) return select("PRIMARY", between, "");
    std::string same = "result_ref=";
    add_quoted(same, *query.result_ref);
    return select("ref", same + " AND " + between, "");
}

std::string statement_texts::probe(open_mode mode) const {
    std::string made;
    const auto add = [&](const std::string& one) { made += ";EXPLAIN " + one; };
    add("SELECT version,due_at," + column_list("") + " FROM " + record_ + " WHERE tenant=''");
    add("SELECT position,name,data FROM " + checkpoint_ + " WHERE tenant=''");
    add("SELECT id,at,act,actor,reason,fence,from_state,to_state FROM " + audit_ +
        " WHERE tenant=''");
    if (mode == open_mode::read_only) return made.substr(1);
    for (const auto* table : {&record_, &checkpoint_}) {
        add("DELETE FROM " + *table + " WHERE tenant=''");
    }
    add("UPDATE " + record_ + " SET state=0 WHERE tenant=''");
    add("UPDATE " + meta_ + " SET value=0 WHERE name=''");
    for (const auto* table : {&record_, &checkpoint_, &audit_}) {
        add("INSERT INTO " + *table + " (tenant) VALUES ('')");
    }
    return made.substr(1);
}

} // namespace semel::mysql
