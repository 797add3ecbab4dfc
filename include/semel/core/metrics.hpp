// What is counted about stores. Plain counters: an exporter takes a snapshot.
//
// Everything here is lock-free and may be written and read from any thread. A snapshot is not one
// atomic picture: each number is right, two numbers may be a moment apart.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>

#include "semel/base/result.hpp"
#include "semel/core/command.hpp"

namespace semel {

// A number that only counts. Relaxed: counters order nothing. A copy is a counter of its own, with
// the value of that moment: so the copy of a struct of counters is a snapshot of it.
class counter {
public:
    constexpr counter(std::uint64_t value = 0) noexcept : value_(value) {}
    counter(const counter& from) noexcept : value_(from.get()) {}
    counter& operator=(const counter& from) noexcept {
        value_.store(from.get(), std::memory_order_relaxed);
        return *this;
    }
    void add(std::uint64_t by = 1) noexcept { value_.fetch_add(by, std::memory_order_relaxed); }
    void subtract(std::uint64_t by) noexcept { value_.fetch_sub(by, std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t get() const noexcept {
        return value_.load(std::memory_order_relaxed);
    }
    operator std::uint64_t() const noexcept { return get(); }

private:
    std::atomic<std::uint64_t> value_;
};

// How long calls took, at one moment. A plain value.
struct latency_snapshot {
    // Bucket i counts what took less than 2^i ns and no less than 2^(i-1); the last one the rest.
    static constexpr std::size_t bucket_count = 42;

    std::array<std::uint64_t, bucket_count> buckets = {};
    std::chrono::nanoseconds sum = {};

    [[nodiscard]] std::uint64_t count() const;
    // The end of the bucket that holds this share (0 to 1) of all; zero if there are none.
    [[nodiscard]] std::chrono::nanoseconds quantile(double share) const;
};

// Counts durations in buckets of powers of two. Thread-safe, lock-free, and of a fixed size.
class latency_histogram {
public:
    // A negative time counts as zero.
    void record(std::chrono::nanoseconds took) noexcept;
    [[nodiscard]] latency_snapshot snapshot() const;

private:
    std::array<counter, latency_snapshot::bucket_count> buckets_;
    counter sum_;
};

inline constexpr std::size_t command_kinds = std::variant_size_v<command>;
inline constexpr std::size_t answer_kinds = std::variant_size_v<answer>;
inline constexpr std::size_t failure_codes = static_cast<std::size_t>(errc::internal) + 1;

// The names behind the indices below, as name(command) and name(answer) give them.
// Precondition: less than command_kinds, answer_kinds.
[[nodiscard]] std::string_view command_name(std::size_t index);
[[nodiscard]] std::string_view answer_name(std::size_t index);

// What came of one kind of command, at one moment.
struct command_snapshot {
    std::uint64_t calls = 0;
    std::uint64_t in_flight = 0;
    std::array<std::uint64_t, answer_kinds> answers = {};   // by answer::index()
    std::array<std::uint64_t, failure_codes> failures = {}; // by errc
    std::uint64_t in_doubt = 0;                             // failures with effect::unknown
    latency_snapshot latency = {};
};

// What a metered store has counted since it was made.
struct store_snapshot {
    std::array<command_snapshot, command_kinds> commands = {}; // by command::index()
    std::uint64_t sweeps = 0;
    std::uint64_t sweep_failures = 0;
    std::uint64_t swept = 0; // records
};

// What `metered` writes into.
struct store_metrics {
    struct alignas(64) per_command {
        counter calls = {};
        std::array<counter, answer_kinds> answers = {};
        std::array<counter, failure_codes> failures = {};
        counter in_doubt = {};
        latency_histogram latency = {};
    };

    std::array<per_command, command_kinds> commands = {};
    counter sweeps = {};
    counter sweep_failures = {};
    counter swept = {};

    [[nodiscard]] store_snapshot snapshot() const;
};

// How many things came at once. Bucket i counts sizes up to 2^i; the last one the rest.
class size_histogram {
public:
    static constexpr std::size_t bucket_count = 13; // 1, 2, 4 … 2,048, more

    void record(std::size_t size) noexcept;
    [[nodiscard]] std::array<std::uint64_t, bucket_count> snapshot() const;

private:
    std::array<counter, bucket_count> buckets_;
};

// What only a driver can know about its own work.
struct store_counters {
    counter round_trips = {};
    counter commits = {};
    counter record_writes = {};
    counter batches = {};
    counter batch_commands = {};
    counter refused = {}; // by a full queue
    counter queued = {};  // now
    size_histogram batch_sizes = {};

    void count_batch(std::size_t commands) noexcept {
        batches.add();
        batch_commands.add(commands);
        batch_sizes.record(commands);
    }
};

// What `cached` knows about itself.
struct cache_counters {
    counter hits = {};
    counter misses = {}; // begins that went to the store though an entry could have answered
    counter fills = {};
    counter evictions = {}; // to keep the byte bound
    counter bytes = {};     // held now
    counter entries = {};   // held now
};

} // namespace semel
