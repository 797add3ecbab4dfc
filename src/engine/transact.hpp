// Execution inside a database transaction on the caller's connection.
#pragma once

#include "semel/detail/work.hpp"
#include "semel/outcome.hpp"
#include "semel/request.hpp"
#include "semel/transaction.hpp"

namespace semel {

class engine_core;

enum class sending {
    looked, // the work runs when it is known that the key is new
    blind,  // all at once, if the database can; otherwise the same
};

// BEGIN … COMMIT is ours; repeated inside when the database asks for it.
[[nodiscard]] raw_outcome transact_own(engine_core& core, transaction_port& port, request what,
                                       detail::work& work, sending how);

// The transaction is the caller's; never committed here.
[[nodiscard]] raw_outcome transact_joined(engine_core& core, transaction_port& port, request what,
                                          detail::work& work);

} // namespace semel
