// The statements of a transaction on the caller's connection. All but the parameters of `write` are
// one record's.
#pragma once

#include <string_view>
#include <vector>

#include "stores/postgres/connection.hpp"
#include "stores/postgres/statements.hpp"

namespace semel::postgres {

struct transaction_texts {
    explicit transaction_texts(std::string_view prefix);

    [[nodiscard]] std::vector<preparation> all() const;

    plain_statement begin;
    // $1 token, $2 the key's number → whether it got the lock (0 or 1), isolation level. Leaves the
    // token in the transaction: it is gone when the transaction is, or has been rolled back to a
    // point before.
    plain_statement mark;
    // Where somebody else holds it: $1 lock time-out; $1 the key's number; the time-out as before.
    plain_statement patience;
    plain_statement wait;
    plain_statement restore;
    // $1-$3 id → now, fence floor, record_columns.
    // A statement of its own, after the lock: its snapshot sees what the last holder committed.
    plain_statement look;
    plain_statement steps; // $1-$3 id → names and data of its checkpoints, which few records have
    // $1-$3 id, $4 token, $5 fence that was seen, $6 … record_columns. Fails, and so aborts the
    // transaction, unless exactly this transaction and this record are still there.
    plain_statement write;
    plain_statement unmark; // $1 token: leaves it no longer in a transaction that goes on
    plain_statement forget; // $1-$3 id: its checkpoints
    plain_statement commit;
};

// What `write` fails with; they stand in the server's message.
inline constexpr std::string_view broken_mark = "semel:broken";
inline constexpr std::string_view changed_mark = "semel:changed";

} // namespace semel::postgres
