// The statements of a transaction on the caller's connection, each about one record.
#pragma once

#include <string_view>
#include <vector>

#include "databases/postgres/client/connection.hpp"
#include "databases/postgres/store/statements.hpp"

namespace semel::postgres {

struct transaction_texts {
    explicit transaction_texts(std::string_view prefix);

    [[nodiscard]] std::vector<preparation> all() const;

    std::string record_table;
    plain_statement begin;
    // Where the session begins with another level. To say it costs as much as a small statement.
    plain_statement begin_committed;
    // $1-$3 id, $4 the key's number → what `look` gives, the isolation level, the number again if
    // another transaction holds it, and the time when the transaction began. That time
    // distinguishes the transaction from every other one on this connection. Reading the number
    // takes the lock, before the look.
    plain_statement enter;
    // In a transaction that was there before, $5 token, $6 one to be forgotten → the same but the
    // start. Leaves the token in the transaction: it is gone when that is, or has been rolled back
    // to a point before. Dear: at its end the server goes through all its settings because of this
    // one.
    plain_statement enter_joined;
    // If another transaction holds it: $1 lock time-out; $1 the key's number; the former time-out.
    plain_statement patience;
    plain_statement wait;
    plain_statement restore;
    // $1-$3 id → now, fence floor, the whole row as one value or null, which table it looked in.
    // Behind `wait`, as a statement of its own: it sees what the last holder has committed.
    plain_statement look;
    plain_statement steps; // $1-$3 id → names and data of its checkpoints, which few records have
    // $1-$3 id, $4 token or $5 start, $6 table, $7 … columns. Both fail, and so abort the
    // transaction, unless it and the table are still the same, and the record as it was seen:
    plain_statement add;     // usual_columns; not there, or else its primary key is violated
    plain_statement replace; // record_columns, then fence and updated_at as seen; 0: none
    plain_statement unmark;  // $1 token: leaves it no longer in a transaction that goes on
    plain_statement forget;  // $1-$3 id: its checkpoints
    plain_statement commit;
    plain_statement rollback; // where it travels with others
};

// What `add` and `replace` fail with: the SQLSTATE of a logarithm and of a division of zero, of
// which these statements have no others.
inline constexpr std::string_view broken_state = "2201E";
inline constexpr std::string_view changed_state = "22012";

} // namespace semel::postgres
