// A connection to the simulated database: one transaction at a time, whose commit may fail in every
// way a real one does.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "sim/database.hpp"
#include "sim/scene.hpp"
#include "sim/sim_store.hpp"
#include "transaction/transaction_port.hpp"

namespace semel::sim {

class sim_port final : public transaction_port {
public:
    sim_port(scene& with, database& behind, const network& between)
        : scene_(with), database_(behind), network_(between) {}

    done begin(on_locked) override;
    done join() override;
    done lock(const record_id& id, locked_record& to) override;
    done save(const record_id& id, const record& after, std::uint64_t seen_fence) override;
    done commit() override;
    done rollback() override;
    [[nodiscard]] const void* connection() const override { return this; }
    [[nodiscard]] void* for_work() override { return this; }

    // A business row, written by the work.
    void write_row() { ++rows_; }

private:
    [[nodiscard]] bool broken(unsigned per_mille);
    void end();

    scene& scene_;
    database& database_;
    const network& network_;
    bool open_ = false;
    unsigned rows_ = 0;
    std::optional<std::pair<record_id, record>> written_;
};

class sim_transaction : public transaction {
public:
    using connection_type = sim_port&;
    sim_transaction(scene& with, database& behind, const network& between)
        : transaction(std::make_unique<sim_port>(with, behind, between)) {}
};

} // namespace semel::sim
