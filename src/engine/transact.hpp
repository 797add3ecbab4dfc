// Execution inside a database transaction on the caller's connection.
#pragma once

#include <memory>

#include "semel/base/task.hpp"
#include "semel/engine.hpp"
#include "semel/engine/detail/work.hpp"
#include "semel/engine/request.hpp"
#include "transaction/transaction_port.hpp"

namespace semel {

class engine_core;

// One flow for all. A caller that blocks has a port and work that wait in place.
[[nodiscard]] raw_outcome transact(engine_core& core, transaction_port& port, request what,
                                   detail::work& work, detail::transaction_owner commits);
detached transact(std::shared_ptr<engine_core> core, transaction_port& port, request what,
                  engine::started_work work, detail::transaction_owner commits,
                  unique_function<void(raw_outcome)> done);

} // namespace semel
