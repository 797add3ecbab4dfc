// The scripts of the Redis store without anything around them: as fast as redis-benchmark can send
// them, and one after the other on one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "bench.hpp"
#include "databases/redis/client/link.hpp"
#include "semel/databases/redis.hpp"

namespace semel::bench {

// redis-benchmark: 50 connections, 32 requests in each pipeline. In a database of its own.
class redis_benchmark {
public:
    explicit redis_benchmark(const redis_store_options& server);

    // Scripts per second.
    [[nodiscard]] double claims(seconds most);
    [[nodiscard]] double completions(seconds most);
    [[nodiscard]] double replays(seconds most);

private:
    [[nodiscard]] double rate(const std::string& script_and_arguments, seconds most) const;

    const redis_store_options server_;
    redis::link on_;
};

// One connection, one request at a time. In a database of its own.
class bare_redis {
public:
    explicit bare_redis(const redis_store_options& server);

    static constexpr std::size_t known = 1'000; // records that are replayed

    // New keys; says how many were claimed and completed.
    [[nodiscard]] std::size_t run_first(seconds most);
    [[nodiscard]] std::size_t run_replays(seconds most);

private:
    const redis::value& ask_begin(const std::string& key);
    void ask_complete(const std::string& key, std::uint64_t fence);

    redis::link on_;
    std::uint64_t next_ = 0;
};

} // namespace semel::bench
