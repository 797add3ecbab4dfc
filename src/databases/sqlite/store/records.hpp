// The record machine on SQLite tables. Used inside a transaction of its connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "databases/sqlite/client/connection.hpp"
#include "databases/sqlite/store/record_rows.hpp"
#include "semel/base/result.hpp"
#include "semel/core/command.hpp"
#include "semel/core/record_machine.hpp"
#include "store/row_search.hpp"

namespace semel::sqlite {

// The answer to one command.
struct executed {
    answer said;
    change what = change::none;
};

// One thread at a time, like its connection.
class records {
public:
    static result<std::unique_ptr<records>> prepare(connection& on, std::string_view prefix);

    // Call it when a transaction has begun: forgets everything that was read in the one before.
    void enter() { floor_.reset(); }

    // As apply() says, at `now`.
    [[nodiscard]] result<executed> execute(const record_id& id, const command& what,
                                           time_point now);

    // The answer to a begin or lookup that changes nothing, found by reading. None if the command
    // would change something.
    [[nodiscard]] result<std::optional<answer>> look(const record_id& id, const command& what,
                                                     time_point now);

    // Removes up to `most` records that are not needed any more, and returns their number.
    [[nodiscard]] result<std::size_t> purge(std::size_t most, time_point now);

    [[nodiscard]] result<std::vector<audit_entry>> audit(const record_id& id);

    // Of a search.
    [[nodiscard]] result<rows_read> read(const record_query& query, const row_request& which,
                                         time_point now);

private:
    struct candidate {
        std::int64_t id;
        std::int64_t fence;
        std::int64_t checkpoints;
    };

    records() = default;

    [[nodiscard]] result<std::optional<executed>>
    begin_new(const record_id& id, const commands::begin& what, time_point now);
    [[nodiscard]] result<std::optional<executed>>
    complete_running(const record_id& id, const commands::complete& what, time_point now);
    [[nodiscard]] result<executed> load_apply_save(const record_id& id, const command& what,
                                                   time_point now);

    [[nodiscard]] result<void> keep(const record_id& id, const audit_entry& what);
    [[nodiscard]] result<void> write(const record_id& id, const std::optional<stored_row>& before,
                                     const applied& made);

    [[nodiscard]] statement& search_by(row_request::path way);

    [[nodiscard]] result<std::uint64_t> floor();
    [[nodiscard]] result<void> raise_floor(std::uint64_t to);
    [[nodiscard]] result<void> find(statement& with, std::size_t most, time_point now,
                                    std::vector<candidate>& found);

    std::optional<std::uint64_t> floor_; // as of this transaction, once asked for

    std::unique_ptr<record_rows> rows_;
    statement complete_;
    statement raise_floor_;
    statement add_audit_, load_audit_;
    statement find_expired_, find_forsaken_;
    statement search_ids_, search_failed_, search_ref_, search_stuck_;
};

} // namespace semel::sqlite
