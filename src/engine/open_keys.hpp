// What runs in a transaction right now, to notice work that nests the same key.
#pragma once

#include "semel/core/record.hpp"
#include "transaction/transaction_port.hpp"

namespace semel {

// From when its work begins until its record is written. Port and id outlive it. Of the whole
// process: work that does not block shares its thread with others, and may go on on another one.
class open_key {
public:
    open_key(const transaction_port& port, const record_id& id);
    open_key(const open_key&) = delete;
    open_key& operator=(const open_key&) = delete;
    ~open_key();

    [[nodiscard]] static bool held(const transaction_port& port, const record_id& id);

private:
    const record_id& id_;
};

} // namespace semel
