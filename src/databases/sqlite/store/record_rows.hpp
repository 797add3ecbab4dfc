// The rows of one record: read, written, removed. Used inside a transaction of its connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "databases/sqlite/client/connection.hpp"
#include "databases/sqlite/store/row.hpp"
#include "databases/sqlite/store/statements.hpp"
#include "semel/base/result.hpp"
#include "semel/core/record.hpp"

namespace semel::sqlite {

// Parameters 1 to 3 of every statement about one record.
void bind_id(query& to, const record_id& id);

struct stored_row {
    std::int64_t id = 0;
    record it;
};

// One thread at a time, like its connection.
class record_rows {
public:
    static result<std::unique_ptr<record_rows>> prepare(connection& on,
                                                        const statement_texts& texts);

    [[nodiscard]] result<std::optional<stored_row>> load(const record_id& id);
    // False if there is a row already.
    [[nodiscard]] result<bool> insert(const record_id& id, const record& it);
    [[nodiscard]] result<void> save(const stored_row& before, const record& after);
    [[nodiscard]] result<void> erase(std::int64_t row, std::int64_t checkpoints);

    // The highest fence that was removed with its record.
    [[nodiscard]] result<std::uint64_t> fence_floor();

private:
    record_rows() = default;

    [[nodiscard]] result<void> load_checkpoints(stored_row& row, std::int64_t expected);
    [[nodiscard]] result<void> save_checkpoints(const stored_row& before, const record& after);

    statement insert_, load_, save_, erase_;
    statement load_checkpoints_, add_checkpoint_, erase_checkpoints_;
    statement read_floor_;
};

} // namespace semel::sqlite
