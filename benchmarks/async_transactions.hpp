// Transactions of a program that does not block: all its connections share two threads, as those of
// pgbench do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "bench.hpp"
#include "semel/engine.hpp"

namespace semel::bench {

class async_transactions {
public:
    enum class work {
        waits,  // for its order
        queued, // the order goes with the record
        // On whichever connection of a pool is free:
        pooled,        // waits
        pooled_queued, // leaves the order to go with the record
    };
    // Of the pools, for all callers together: while half of them work, the others come.
    static constexpr std::size_t pooled_connections = 16;

    // `next_key` gives a new number, whoever calls it.
    async_transactions(engine& on, const std::string& url, std::size_t callers,
                       std::function<std::uint64_t()> next_key);
    ~async_transactions();

    // Each caller has one transaction after the other. Says how many were executed.
    [[nodiscard]] std::size_t run(work how, seconds most);

private:
    class state;
    std::unique_ptr<state> state_;
};

} // namespace semel::bench
