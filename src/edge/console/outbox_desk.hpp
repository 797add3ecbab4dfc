// What the console asks of an outbox. The server gives it one where an outbox is configured.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "semel/outbox/event.hpp"
#include "semel/result.hpp"
#include "semel/time.hpp"

namespace semel::edge {

struct outbox_topic {
    std::string topic = {};
    std::uint64_t waiting = 0;   // to be sent, now or later
    std::uint64_t under_way = 0; // claimed by a relay
    std::uint64_t dead = 0;
    duration oldest = {}; // how long the oldest one that waits has waited
};

struct outbox_state {
    std::vector<outbox_topic> topics = {};
};

// An event that was given up.
struct dead_letter {
    std::int64_t row = 0;
    std::int32_t attempts = 0;
    time_point created_at = {};
    time_point updated_at = {};
    std::string error = {}; // the last one
    outbox::event event = {};
};

struct dead_page {
    std::vector<dead_letter> letters = {}; // without payload and headers
    std::string cursor = {};               // empty: this was the last page
};

// Thread-safe. Every call blocks; a cursor that is not one of its own is invalid_argument.
class outbox_desk {
public:
    virtual ~outbox_desk() = default;
    [[nodiscard]] virtual result<outbox_state> state() = 0;
    [[nodiscard]] virtual result<dead_page> dead(const std::string& cursor,
                                                 std::size_t letters_max) = 0;
    // With payload and headers; none if there is no such dead letter.
    [[nodiscard]] virtual result<std::optional<dead_letter>> letter(const std::string& id) = 0;
    // Sent again from the beginning; tells how many of them were dead letters.
    [[nodiscard]] virtual result<std::size_t> requeue(const std::vector<std::string>& ids) = 0;
};

} // namespace semel::edge
