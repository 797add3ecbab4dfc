// The number under which a relay announces itself among the shards.
#pragma once

#include <cstdint>

#include "semel/core/record.hpp"

namespace semel::outbox {

// Below zero, where no shard is.
[[nodiscard]] inline std::int64_t relay_number(const owner_id& owner) {
    return -1 - static_cast<std::int64_t>((owner.high ^ owner.low) % 0x7fff'fffe);
}

} // namespace semel::outbox
