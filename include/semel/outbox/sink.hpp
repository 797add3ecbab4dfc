// Where a relay delivers to. Adding a sink is one file: implement deliver() and name its URL
// scheme.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "semel/outbox/event.hpp"
#include "semel/result.hpp"

namespace semel::outbox {

enum class delivered : std::uint8_t {
    yes,      // the other side has confirmed it, or has it already
    later,    // not now: try again after a while
    rejected, // the other side will never take it: a dead letter
    held,     // not tried, because an earlier message of its key was not delivered
};

struct delivery {
    delivered how = delivered::later;
    std::string error = {}; // for `later` and `rejected`; kept with the row

    friend bool operator==(const delivery&, const delivery&) = default;
};

enum class order : std::uint8_t {
    none,    // in any order
    per_key, // in the order of the batch, key by key; after a failure the key's others are `held`
};

// Used by one thread at a time: a relay opens one sink per worker. deliver() pipelines the whole
// batch, fills one answer per message and does not throw. It returns within the sink's own
// time-outs; what is not confirmed by then is `later` and will be sent again with the same id. In a
// child that was forked later nothing is sent over a connection.
class sink {
public:
    sink() = default;
    sink(const sink&) = delete;
    sink& operator=(const sink&) = delete;
    virtual ~sink() = default;

    virtual void deliver(std::span<const message> batch, order kept,
                         std::span<delivery> answers) = 0;

    // Connects to where deliver() would send, and sends nothing. For those who try a configuration.
    virtual result<void> connect() { return {}; }
};

} // namespace semel::outbox
