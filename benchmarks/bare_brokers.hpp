// Brokers as fast as a client can feed them that does nothing else: the same bytes, no questions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "bench.hpp"
#include "databases/redis/client/link.hpp"

namespace semel::bench {

struct broker_load {
    static constexpr std::size_t batch = 1'000;
    static constexpr std::size_t payload_bytes = 256;
    static constexpr const char* topic = "orders";

    // As long as a ULID.
    [[nodiscard]] static std::string id_of(std::uint64_t number);
};

// XADD with the fields of the sink, written into one buffer beforehand, sent over and over.
class bare_stream {
public:
    explicit bare_stream(const std::string& url);

    // Entries per second.
    [[nodiscard]] double rate(seconds most);
    void clean();

private:
    redis::link on_;
    std::string requests_;
};

// js_PublishAsync with a message id, without waiting between batches.
class bare_jetstream {
public:
    explicit bare_jetstream(const std::string& url); // makes the stream
    ~bare_jetstream();

    // Messages per second, all of them acknowledged.
    [[nodiscard]] double rate(seconds most);
    void clean();

private:
    struct state;
    std::unique_ptr<state> state_;
};

} // namespace semel::bench
