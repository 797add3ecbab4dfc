// The port between the loop of a consumer and a broker.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/consumer.hpp"

namespace semel::consumer {

// What the broker must do with a message.
struct disposal {
    enum class kind : std::uint8_t { acknowledge, again, park } what = kind::acknowledge;
    duration after = {};        // again
    std::string error = {};     // park: why
    std::uint32_t attempts = 0; // park
};

// One thread at a time. The messages of a fetch are the source's own until they are settled.
class source {
public:
    source() = default;
    source(const source&) = delete;
    source& operator=(const source&) = delete;
    virtual ~source() = default;

    // Connects if need be and waits a little for messages. An empty answer is no failure.
    virtual result<void> fetch(std::size_t messages_max, duration patience) = 0;
    [[nodiscard]] virtual std::span<const received> batch() const = 0;

    // One disposal per message of the batch. After a failure the broker delivers again.
    virtual result<void> settle(std::span<const disposal> what) = 0;

    // The batch is still running: the broker must not give it to another consumer yet.
    virtual void keep() = 0;

    // Nothing more is fetched: messages that are held back go to other consumers.
    virtual void finish() = 0;
};

} // namespace semel::consumer
