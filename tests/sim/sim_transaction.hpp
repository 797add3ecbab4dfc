// A connection to the simulated database: one transaction at a time, whose commit may fail in every
// way a real one does.
#pragma once

#include <optional>
#include <utility>

#include "semel/transaction.hpp"
#include "sim/database.hpp"
#include "sim/scene.hpp"
#include "sim/sim_store.hpp"

namespace semel::sim {

class sim_transaction final : public transaction_port {
public:
    sim_transaction(scene& with, database& behind, const network& between)
        : scene_(with), database_(behind), network_(between) {}

    result<void> begin(on_locked) override;
    result<void> join() override;
    result<locked_record> lock(const record_id& id) override;
    result<void> save(const record_id& id, const record& after, std::uint64_t seen_fence) override;
    result<void> commit() override;
    void rollback() override;
    [[nodiscard]] const void* connection() const override { return this; }

    // A business row, written by the work.
    void write_row() { ++rows_; }

private:
    [[nodiscard]] bool broken(unsigned per_mille);

    scene& scene_;
    database& database_;
    const network& network_;
    bool open_ = false;
    unsigned rows_ = 0;
    std::optional<std::pair<record_id, record>> written_;
};

} // namespace semel::sim
