// One pass through an open transaction.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/outcomes.hpp"
#include "engine/plan.hpp"
#include "engine/transact_adapters.hpp"
#include "semel/base/task.hpp"
#include "semel/engine/request.hpp"
#include "transaction/transaction_port.hpp"

namespace semel {

class engine_core;

class transaction_pass {
public:
    // `to` is what the caller is told, set by a run that ends well.
    transaction_pass(engine_core& core, transaction_port& port, const plan& what,
                     transaction_work& work, raw_outcome& to);

    // Locks, judges, runs, writes. The caller commits if `wrote()`, and rolls back otherwise.
    task<result<void>> run();

    // After a rollback: a final failure is kept by a transaction of its own.
    [[nodiscard]] bool failed_finally() const;
    task<result<void>> write_failure();

    [[nodiscard]] bool ran() const { return ran_; }
    [[nodiscard]] bool wrote() const { return wrote_; }
    [[nodiscard]] bool mine(const locked_record& now) const;

private:
    applied complete(const record& begun, const instant& at);

    engine_core& core_;
    transaction_port& port_;
    const plan& plan_;
    transaction_work& work_;
    raw_outcome& to_;
    const owner_id owner_;
    std::uint64_t seen_fence_ = 0;
    std::optional<ending> ending_;
    bool ran_ = false;
    bool wrote_ = false;
};

} // namespace semel
