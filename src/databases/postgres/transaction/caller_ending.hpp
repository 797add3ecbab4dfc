// The end of a transaction on the application's connection, and what may travel with it: the
// beginning of the next.
#pragma once

#include <vector>

#include "databases/postgres/transaction/caller_records.hpp"

namespace semel::postgres {

// One caller at a time, like session and records, which outlive it.
class caller_ending {
public:
    caller_ending(caller_session& in, caller_records& of) : in_(in), records_(of) {}

    // With a `next`, the way in of the next caller goes along: its BEGIN, lock and look. If the
    // server came to them (records.entered()), the connection is in the next caller's transaction,
    // whatever became of this one.
    [[nodiscard]] task<result<void>> commit(const record_id* next = nullptr);
    [[nodiscard]] task<result<void>> roll_back(); // never fails
    // For only_rolls_back(). Never fails either.
    [[nodiscard]] task<result<void>> roll_back_before(const record_id& next);
    // There is nothing else to be ended first.
    [[nodiscard]] bool only_rolls_back() const;

    // A statement of the work met a deadlock or a conflict, and the work has not gone on from a
    // savepoint of its own.
    [[nodiscard]] bool asks_to_repeat() const;
    void abandon() noexcept;

private:
    [[nodiscard]] task<result<std::vector<rows>>> ask(std::vector<call> calls,
                                                      const record_id* next, succession& its);

    caller_session& in_;
    caller_records& records_;
};

} // namespace semel::postgres
