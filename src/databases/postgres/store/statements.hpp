// Every SQL statement of the driver, in the driver's words.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "databases/postgres/client/binary.hpp"
#include "databases/postgres/store/batch_rows.hpp"

namespace semel::postgres {

// What rows are made of: array parameters, in the order they are added.
using group_types = std::vector<type>;

// One statement for a whole batch. All its parameters are arrays.
struct batch_statement {
    std::string name;
    std::string text;
    std::vector<group_types> groups;
};

struct plain_statement {
    std::string name;
    std::string text;
};

// Behind an INSERT whose fence is the clock's, and a statement of its own: what was removed while
// the INSERT waited has raised the floor. Fails unless that was below the transaction's first
// moment.
inline constexpr const char* past_floor_text =
    "SELECT (CASE WHEN value < (extract(epoch FROM now()) * 1000000)::bigint THEN '0' ELSE "
    "'semel:floor' END)::bigint FROM semel_meta WHERE name = 'fence_floor'";

// The stored columns of a record, in the table's own order but without the id, which stands
// before the fingerprint.
inline constexpr std::array<column_definition, 23> record_columns{{
    {"fence", type::int8},        {"lease_until", type::int8},  {"begun_at", type::int8},
    {"retry_after", type::int8},  {"expires_at", type::int8},   {"created_at", type::int8},
    {"updated_at", type::int8},   {"grace", type::int8},        {"processing_max", type::int8},
    {"attempts", type::int8},     {"attempts_max", type::int8}, {"result_checksum", type::int8},
    {"owner", type::uuid},        {"state", type::int8},        {"on_lease_expiry", type::int8},
    {"checkpoints", type::int8},  {"result_kind", type::int8},  {"fingerprint", type::bytea},
    {"result_type", type::bytea}, {"result_ref", type::bytea},  {"error", type::bytea},
    {"attributes", type::bytea},  {"result", type::bytea},
}};

// Those of a record that a transaction adds in one go, nearly always: it has succeeded at once, at
// the time of begun_at, and the other columns are as the table has them by default.
inline constexpr std::array<column_definition, 14> usual_columns{{
    {"fence", type::int8},
    {"lease_until", type::int8},
    {"begun_at", type::int8},
    {"expires_at", type::int8},
    {"grace", type::int8},
    {"processing_max", type::int8},
    {"attempts_max", type::int8},
    {"result_checksum", type::int8},
    {"owner", type::uuid},
    {"on_lease_expiry", type::int8},
    {"fingerprint", type::bytea},
    {"result_type", type::bytea},
    {"result_ref", type::bytea},
    {"result", type::bytea},
}};

// Rows of a batch begin with tenant, operation, key; `now` is null in production. A returned `row`
// is the place in the batch, counted from 1.
struct statement_texts {
    explicit statement_texts(std::string_view prefix);

    // id, now, owner, lease, on_lease_expiry, attempts_max, grace, processing_max, fingerprint,
    // attributes → id, fence, begun_at, place of those that were new
    batch_statement insert;
    // The same where all are believed to be new, in the server's time: id, owner, lease,
    // on_lease_expiry, attempts_max, grace, processing_max, fingerprint, attributes → owner,
    // begun_at, place of each. Fails if one of them is there. The fence is the time of begun_at:
    // that the floor is below, `past_floor` sees to behind it.
    batch_statement insert_new;
    plain_statement past_floor; // see past_floor_text
    // id, now, fence, owner, retention, kind, checksum, type, ref, body → row, now.
    // Only for records without checkpoints.
    batch_statement complete;
    // The same behind a place of each: finds the rows without an index, unless they have moved.
    batch_statement complete_there;
    // id, now, fence, owner, state, retention, retry_after, error → row, now.
    // A final failure only for records without checkpoints.
    batch_statement fail;
    // id, now, fence, owner, lease → row, now, lease_until
    batch_statement renew;
    // id, now → row, now, fence floor, version, record_columns, checkpoint names and data.
    // One row for each, whether it is there or not.
    batch_statement load;
    // The same behind an `insert` of the same records, without those that were new; but with those
    // whose fence is not above the floor.
    batch_statement load_rest;
    // Guarded by the version that load gave. Groups: id, version, forgets checkpoints (0 or 1),
    // record_columns; row, position, name, data of checkpoints to add; row, at, act, actor, reason,
    // fence of audit entries → row of those that were saved
    batch_statement save;
    // Guarded as well. Groups: id, version; audit entries as above → row of those that are gone
    batch_statement erase;

    plain_statement raise_floor; // $1 at least
    // $1 now, $2 how many → how many it removed
    plain_statement sweep_expired;
    plain_statement sweep_forsaken;
    // Waits for locks no more than a moment, to the end of the transaction.
    plain_statement impatient;
    plain_statement audit; // $1-$3 id → at, act, actor, reason, fence
    // $1-$3 from this id on, $4-$6 up to but without that one, $7 how many, $8 1 with the result's
    // body, else 0, $9 now; lowest ids first → id, now, record_columns
    plain_statement search_ids;
    plain_statement search_failed;
    plain_statement search_ref;   // $10 reference
    plain_statement search_stuck; // $10 lapsed for longer than that
};

} // namespace semel::postgres
