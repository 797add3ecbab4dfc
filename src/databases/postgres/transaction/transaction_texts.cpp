#include "databases/postgres/transaction/transaction_texts.hpp"

#include <functional>

#include "databases/postgres/client/schema.hpp"

namespace semel::postgres {

namespace {

constexpr const char* this_record =
    "tenant = $1::bytea AND operation = $2::bytea AND key = $3::bytea";

// The record is one value, the row itself: to describe and fill its columns costs the server more
// than to find it, also where there is none.
std::string look_text(const std::string& further_columns = "") {
    return "SELECT clock_timestamp(), m.value, r, 'semel_record'::regclass::oid" + further_columns +
           " FROM semel_meta m LEFT JOIN semel_record r ON "
           "r.tenant = $1::bytea AND r.operation = $2::bytea AND r.key = $3::bytea "
           "WHERE m.name = 'fence_floor'";
}

// The number is among the parameters: to read it is to take the lock, see 0006_key_lock.sql.
std::string enter_text(const std::string& known_by) {
    return look_text(", current_setting('transaction_isolation'), "
                     "current_setting('semel.taken', true), " +
                     known_by + ", $4::semel_key_lock");
}

// Nothing in SQL raises an error of one's own, so a number that is 0 or an error stands for it. The
// planner cannot work it out beforehand.
std::string or_broken(const std::string& holds) {
    return "ln(((" + holds + ") IS TRUE)::int)::bigint";
}
std::string or_changed(const std::string& holds) {
    return "0 / ((" + holds + ") IS TRUE)::int";
}

// The server looks up names again after the work has changed the search path.
constexpr const char* table_now = "'semel_record'::regclass::oid";

// Of `now() = start` and the token one is not given, and so does not hold.
std::string same_transaction() {
    return or_broken(std::string{table_now} +
                     " = $6::oid AND (now() = $5::timestamptz OR "
                     "position($4::text IN current_setting('semel.owner', true)) > 0)");
}

// An INSERT of columns, and for each its parameter.
struct insertion {
    std::string columns = "tenant, operation, key";
    std::string values = "$1::bytea, $2::bytea, $3::bytea";

    // `next` is the number of the first of them, `value` says what becomes of one on its way.
    template <class Columns, class Value>
    insertion(const Columns& all, std::size_t next, Value value) {
        for (const auto& column : all) {
            const std::string given =
                "$" + std::to_string(next++) + "::" + std::string{postgres::name(column.of)};
            add(column.name, value(column.name, given));
        }
    }
    void add(std::string_view column, std::string_view value) {
        columns += ", " + std::string{column};
        values += ", " + std::string{value};
    }
    [[nodiscard]] std::string text(std::string_view before, std::string_view behind) const {
        return "INSERT INTO semel_record (" + columns + ") " + std::string{before} + values +
               std::string{behind};
    }
};

constexpr std::size_t first_column = 7; // of what is guarded by `guarded`

std::string guarded(std::string_view column, const std::string& given) {
    return column == "fence" ? given + " + " + same_transaction() : given;
}

std::string add_text() {
    insertion made{usual_columns, first_column, guarded};
    made.add("state", "1");
    for (std::size_t i = 0; i < usual_columns.size(); ++i) {
        if (usual_columns[i].name != "begun_at") continue;
        const std::string begun_at = "$" + std::to_string(first_column + i) + "::bigint";
        made.add("created_at", begun_at);
        made.add("updated_at", begun_at);
    }
    return made.text("VALUES (", ")");
}

std::string replace_text() {
    const auto seen = [](std::size_t number) {
        return "$" + std::to_string(first_column + record_columns.size() + number) + "::bigint";
    };
    // A claim that has lapsed is still its owner's: it may complete, and keep its fence.
    const std::string unchanged =
        "semel_record.fence = " + seen(0) + " AND semel_record.updated_at = " + seen(1);
    std::string changes;
    for (const auto& column : record_columns) {
        const std::string name{column.name};
        changes += (changes.empty() ? "" : ", ") + name + " = excluded." + name;
        if (name != "fence") continue;
        changes += " + " + or_changed(unchanged);
    }
    return insertion{record_columns, first_column, guarded}.text("VALUES (", ")") +
           " ON CONFLICT (tenant, operation, key) DO UPDATE SET " + changes;
}

using texts = transaction_texts;
constexpr plain_statement texts::*every[]{&texts::begin,    &texts::begin_committed,
                                          &texts::enter,    &texts::enter_joined,
                                          &texts::patience, &texts::wait,
                                          &texts::restore,  &texts::look,
                                          &texts::steps,    &texts::add,
                                          &texts::replace,  &texts::unmark,
                                          &texts::forget,   &texts::commit,
                                          &texts::rollback};

} // namespace

transaction_texts::transaction_texts(std::string_view prefix)
    : record_table(std::string{prefix} + "record"),
      begin{.name = "begin", .text = "BEGIN"},
      begin_committed{.name = "begin_committed", .text = "BEGIN ISOLATION LEVEL READ COMMITTED"},
      enter{.name = "enter", .text = enter_text("now()")},
      enter_joined{.name = "enter_joined",
                   .text = enter_text("set_config('semel.owner', concat(replace("
                                      "current_setting('semel.owner', true), $6::text, ''), "
                                      "$5::text), true)")},
      patience{.name = "patience",
               .text = "SELECT set_config('semel.lock_timeout', current_setting('lock_timeout'), "
                       "true), set_config('lock_timeout', $1::text, true)"},
      wait{.name = "wait", .text = "SELECT pg_advisory_xact_lock($1::bigint)"},
      restore{.name = "restore",
              .text = "SELECT set_config('lock_timeout', current_setting('semel.lock_timeout'), "
                      "true)"},
      look{.name = "look", .text = look_text()},
      steps{.name = "steps",
            .text = "SELECT name, data FROM semel_checkpoint WHERE " + std::string{this_record} +
                    " ORDER BY position"},
      add{.name = "add", .text = add_text()},
      replace{.name = "replace", .text = replace_text()},
      unmark{.name = "unmark",
             .text = "SELECT set_config('semel.owner', "
                     "replace(current_setting('semel.owner', true), $1::text, ''), true)"},
      forget{.name = "forget",
             .text = std::string{"DELETE FROM semel_checkpoint WHERE "} + this_record},
      commit{.name = "commit", .text = "COMMIT"},
      rollback{.name = "rollback", .text = "ROLLBACK"} {
    // Names are the session's, where stores with other prefixes, or another version of semel, may
    // be at work too: the same name must be the same text.
    for (const auto each : every) {
        plain_statement& one = this->*each;
        one.text = with_prefix(one.text, prefix);
        one.name = "semel_t." + one.name + "." + std::to_string(std::hash<std::string>{}(one.text));
    }
}

std::vector<preparation> transaction_texts::all() const {
    std::vector<preparation> made;
    for (const auto each : every) made.push_back({(this->*each).name, (this->*each).text});
    return made;
}

} // namespace semel::postgres
