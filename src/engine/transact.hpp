// Execution inside a database transaction on the caller's connection.
#pragma once

#include <memory>

#include "semel/base/task.hpp"
#include "semel/engine.hpp"
#include "semel/engine/detail/work.hpp"
#include "semel/engine/request.hpp"
#include "semel/transaction.hpp"

namespace semel {

class engine_core;

// One flow for all: a caller who blocks has a port and work that never wait for later.
[[nodiscard]] raw_outcome transact(engine_core& core, transaction_port& port, request what,
                                   detail::work& work, transacting how);
detached transact(std::shared_ptr<engine_core> core, async_transaction_port& port, request what,
                  engine::started_work work, transacting how,
                  unique_function<void(raw_outcome)> done);

} // namespace semel
