// What the answers to a pipeline mean. Pure: connection reads the answers.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "databases/postgres/client/errors.hpp"

namespace semel::postgres {

// The statements of a pipeline come from three parties, in this order: the application, which may
// have queued some; the driver; and the next transaction, if its beginning travels behind a COMMIT
// or ROLLBACK of the driver. Each statement has one answer, in order.
class pipeline_answers {
public:
    // `behind`: how many statements the next transaction has.
    explicit pipeline_answers(std::size_t behind = 0) : behind_(behind) {}

    void add_done(std::string_view tag); // "COMMIT", "ROLLBACK", "INSERT 0 1" …
    void add_failed(native_failure why);
    void add_skipped(); // a statement before has failed

    struct meaning {
        std::size_t kept = 0; // so many of the statements that were done are not the next one's
        std::optional<native_failure> why = {}; // the transaction was rolled back
        bool next_began = false;                // the server came to the next transaction
        std::optional<native_failure> next_why = {};
    };
    // All answers are there. `sent`: the statements of the driver and of the next transaction.
    [[nodiscard]] meaning at_end(std::size_t sent) const;
    // The rest will not come. Nothing: no statement has failed so far.
    [[nodiscard]] std::optional<native_failure> cut_off(std::size_t sent) const;
    [[nodiscard]] bool of_work(std::size_t sent) const { return not_done_ > sent; }

private:
    void note(const native_failure& why);
    [[nodiscard]] bool ended() const { return ended_at_ > 0 && ended_at_ + behind_ == answers_; }

    std::size_t behind_;
    std::size_t answers_ = 0;
    std::size_t done_ = 0;
    std::size_t not_done_ = 0;               // from the first failure on
    std::optional<native_failure> why_ = {}; // the first failure
    // The last answer that ended a transaction: its place, counted from 1, what was done up to it,
    // and the first failure behind it.
    std::size_t ended_at_ = 0;
    std::size_t done_by_then_ = 0;
    bool committed_ = false;
    std::optional<native_failure> why_behind_ = {};
};

} // namespace semel::postgres
