// Group commit: one transaction per batch of a lane.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "databases/sqlite/client/connection.hpp"
#include "databases/sqlite/client/write_gate.hpp"
#include "databases/sqlite/store/records.hpp"
#include "semel/base/result.hpp"
#include "semel/databases/sqlite.hpp"
#include "store/lane.hpp"

namespace semel::sqlite {

// The store's clock: this machine's wall clock, which all processes on the file share.
[[nodiscard]] time_point wall_clock();

class backend final : public batch_backend {
public:
    // The gate is shared by all backends of one store and outlives them.
    static result<std::unique_ptr<backend>> open(const sqlite_store_options& options,
                                                 write_gate& gate, std::size_t cache_bytes);

    void execute(std::span<job* const> batch) override;

    // A chunk of a sweep in a transaction of its own.
    [[nodiscard]] result<std::size_t> purge(std::size_t most, std::optional<time_point> now);
    [[nodiscard]] result<std::vector<audit_entry>> audit(const record_id& id);
    [[nodiscard]] result<rows_read> read(const record_query& query, const row_request& which);

private:
    backend(const sqlite_store_options& options, write_gate& gate)
        : lock_wait_(options.lock_wait), gate_(gate) {}

    void execute_batch(std::span<job* const> batch);
    // Answers the commands that need only a look at the records, without the write lock. Returns
    // the others.
    [[nodiscard]] std::span<job* const> answer_repeats(std::span<job* const> batch);
    void learn_from(std::span<job* const> batch);
    enum class verdict { answered, culprit_unknown };
    [[nodiscard]] verdict transact(std::span<job* const> batch);
    void transact_one_by_one(std::span<job* const> batch);
    [[nodiscard]] verdict execute_each(std::span<job* const> batch);
    [[nodiscard]] verdict give_up(std::span<job* const> batch, const failure& why);
    void commit();

    const duration lock_wait_;
    write_gate& gate_;
    std::unique_ptr<connection> on_;
    std::unique_ptr<records> records_; // its statements go before the connection
    std::vector<job*> wrote_;          // in the transaction at work
    std::vector<job*> unanswered_;     // by answer_repeats()
    // The last claims were mostly repeats, so the backend looks at the records before it asks for
    // the lock.
    bool repeats_ = false;
};

} // namespace semel::sqlite
