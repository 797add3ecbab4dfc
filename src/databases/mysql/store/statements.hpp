// Every SQL statement of the driver, in the driver's words. Values are written into the text:
// statements for many rows have no parameters of a fixed number, and several travel together.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "databases/mysql/client/literal.hpp"
#include "semel/base/time.hpp"
#include "semel/core/record.hpp"
#include "semel/databases/mysql.hpp"
#include "store/row_search.hpp"

namespace semel::mysql {

// The stored columns of a record, in the order of `load` and of what is saved.
inline constexpr std::array<std::string_view, 23> record_columns{
    "state",           "fence",        "owner",           "attempts",       "lease_until",
    "begun_at",        "retry_after",  "expires_at",      "created_at",     "updated_at",
    "on_lease_expiry", "attempts_max", "grace",           "processing_max", "fingerprint",
    "checkpoints",     "result_kind",  "result_checksum", "result_type",    "result_ref",
    "error",           "attributes",   "result",
};

// With that in front of each.
[[nodiscard]] std::string column_list(std::string_view alias);

// The server's time in microseconds. UTC: a local time happens twice when clocks are put back. It
// is that of the statement's beginning.
inline constexpr std::string_view clock_expression =
    "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(6))";

// One UPDATE for a whole batch, guarded by what each row must still be. Rows begin with tenant,
// operation, key; in `changes` and `guard`, {name} stands for the row's own value.
struct batch_update {
    std::vector<std::string_view> names; // of the values after the key
    std::string_view changes;
    std::string_view guard;
};

// Where there is one row it is told apart by its values, so the server need not make a table of it.
[[nodiscard]] const batch_update& complete_update(); // now fence owner retention kind checksum
                                                     // type ref body
[[nodiscard]] const batch_update& fail_update();     // now fence owner state retention
                                                     // retry_after error
[[nodiscard]] const batch_update& renew_update();    // now fence owner lease

// Columns of `load`; those of the record follow, then one of its checkpoints and its id.
namespace loaded {
inline constexpr int version = 0;
inline constexpr int record = 1;
inline constexpr int checkpoint = record + static_cast<int>(record_columns.size());
inline constexpr int tenant = checkpoint + 3;
inline constexpr int now = tenant + 3;    // with::time
inline constexpr int steps = record + 15; // how many checkpoints there are
} // namespace loaded
static_assert(record_columns[15] == "checkpoints");

class statement_texts {
public:
    statement_texts(std::string_view prefix, mysql_dialect dialect);

    // Leaves the server's time in @n, and nothing in @g.
    [[nodiscard]] static std::string_view clock();
    // The fence floor, as a value. For a SELECT: in a SET it would lock.
    [[nodiscard]] const std::string& floor() const { return floor_; }

    [[nodiscard]] std::string update(const batch_update& what, const row_buffer& rows) const;

    // tenant, operation, key, version, fence, owner, lease_until, due_at, begun_at, created_at,
    // updated_at, on_lease_expiry, attempts_max, grace, processing_max, fingerprint, attributes
    [[nodiscard]] std::string insert(const row_buffer& rows) const;
    // The same → version of those that were new. Not for MySQL.
    [[nodiscard]] std::string insert_returning(const row_buffer& rows) const;

    // The prepared statements that a session keeps for single commands: the server would spend more
    // time on their text than on the row. A read-only session keeps only look_alone(). MySQL
    // sessions have none of the statements called `alone`.
    [[nodiscard]] std::string prepare(open_mode mode) const;
    // tenant, operation, key, version, lowest fence, owner, lease, lease, on_lease_expiry,
    // attempts_max, grace, processing_max, fingerprint, attributes → begun_at, fence floor, if it
    // was new
    [[nodiscard]] std::string begin_alone(const row_buffer& row) const;
    // The same as update(complete_update(), …), except that `now` is the server's time, which the
    // statement gives to LAST_INSERT_ID.
    [[nodiscard]] std::string complete_alone(const row_buffer& row) const;
    // The same as load(id, with::time).
    [[nodiscard]] std::string look_alone(const row_buffer& id) const;

    // Most records have no checkpoints, and looking for checkpoints costs much.
    enum class with { columns, checkpoints, time };
    // tenant, operation, key → what `loaded` names, for those that are there
    [[nodiscard]] std::string load(const row_buffer& ids, with what) const;

    // The whole record, if it still has that version. `id` is tenant, operation, key.
    [[nodiscard]] std::string save(const row_buffer& id, std::int64_t version,
                                   const record& after) const;
    [[nodiscard]] std::string erase(const row_buffer& id, std::int64_t version) const;
    // These are about a record that the statement before has changed: `saved` is 1 then.
    [[nodiscard]] std::string forget_checkpoints(const row_buffer& id,
                                                 std::string_view saved) const;
    [[nodiscard]] std::string add_checkpoint(const row_buffer& id, std::size_t position,
                                             const checkpoint& it, std::string_view saved) const;
    [[nodiscard]] std::string add_audit(const row_buffer& id, const audit_entry& it,
                                        std::string_view saved) const;

    [[nodiscard]] std::string raise_floor(std::uint64_t at_least) const;

    // Locks up to so many records that may go; what others hold locked is left for the next time.
    // → tenant, operation, key, fence, checkpoints. `now` is a number or an expression.
    [[nodiscard]] std::string find_expired(int state, std::string_view now, std::size_t most) const;
    [[nodiscard]] std::string find_forsaken(std::string_view now, std::size_t most) const;
    [[nodiscard]] std::string erase_all(const row_buffer& ids) const;
    [[nodiscard]] std::string forget_all_checkpoints(const row_buffer& ids) const;

    [[nodiscard]] std::string audit(const row_buffer& id) const; // → at, act, actor, reason, fence

    // The rows of a search at `now`, a number or an expression; lowest ids first → id, now,
    // record_columns
    [[nodiscard]] std::string search(const record_query& query, const row_request& which,
                                     std::string_view now) const;

    // Statements that fail if tables or rights are not what this driver needs. They write nothing.
    // A read-only session needs only the right to read.
    [[nodiscard]] std::string probe(open_mode mode) const;

    [[nodiscard]] mysql_dialect dialect() const { return dialect_; }

    // Several statements as one compound statement, so that the server sends rows only and no
    // answers of the other statements. MySQL has no such statement.
    [[nodiscard]] std::string compound(std::string_view statements) const;
    // An error (3572) where another transaction holds the row. Locks nothing for longer than it
    // runs.
    [[nodiscard]] std::string find_unlocked(const row_buffer& id) const;
    [[nodiscard]] bool has_compound() const { return dialect_ == mysql_dialect::mariadb; }
    // A statement that waits for locks, but no longer than that. Otherwise none waits at all; MySQL
    // waits a second in any case.
    [[nodiscard]] std::string timed(duration most, std::string_view one) const;

private:
    [[nodiscard]] std::string begin_alone_text() const;
    [[nodiscard]] std::string complete_alone_text() const;

    const mysql_dialect dialect_;
    std::string briefly_; // in front of a statement that may wait for its like
    std::string record_;  // names of tables
    std::string checkpoint_;
    std::string meta_;
    std::string audit_;
    std::string floor_;
    std::string insert_head_;
};

// The values of record_columns for `save`, and for transactions.
void add_record(row_buffer& to, const record& it);

// due_at of the table: what the sweeper waits for.
[[nodiscard]] time_point due_at(const record& it);

// "tenant='…' AND operation='…' AND `key`='…'"
[[nodiscard]] std::string key_equals(const row_buffer& id, std::string_view alias = {});

} // namespace semel::mysql
