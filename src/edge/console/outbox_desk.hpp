// What the console asks of an outbox. The server gives it one where an outbox is configured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/outbox.hpp"

namespace semel::edge {

struct outbox_backlog {
    std::uint64_t waiting = 0;
    std::uint64_t dead = 0;
    std::uint64_t count_max = 0; // neither is counted beyond this
    duration oldest = {};        // how long the oldest one that waits has waited
};

struct outbox_row {
    outbox::message it = {};
    std::string status = {}; // "pending", "claimed", "dead", "parked"
    time_point updated_at = {};
    std::string error = {}; // the last one
};

struct outbox_query {
    std::string status = {}; // empty: any
    std::string topic = {};  // empty: any
    std::int64_t after = 0;  // rows behind this one
    std::size_t rows_max = 50;
};

// Thread-safe. Every call blocks.
class outbox_desk {
public:
    virtual ~outbox_desk() = default;
    [[nodiscard]] virtual result<outbox_backlog> measure() = 0;
    // By their rows. invalid_argument: no such status.
    [[nodiscard]] virtual result<std::vector<outbox_row>> list(const outbox_query& which) = 0;
    [[nodiscard]] virtual result<std::optional<outbox_row>> show(std::int64_t row) = 0;
    // Dead ones are sent again from the beginning; tells how many of these were dead.
    [[nodiscard]] virtual result<std::size_t> requeue(const std::vector<std::int64_t>& rows) = 0;
};

} // namespace semel::edge
