// Fetch, handle, settle. The loop decides about messages in the same way for every broker.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "consumer/source.hpp"
#include "core/backoff.hpp"

namespace semel::consumer {

// What the broker must do with a message that was handled with this result. Pure.
[[nodiscard]] disposal dispose(const handled& of, const received& message,
                               const consumer_options& options);

// The pause before a message comes again: it doubles with every delivery. Pure.
[[nodiscard]] duration pause_after(std::uint32_t times, const consumer_options& options);

class loop final : public runner {
public:
    loop(std::unique_ptr<source> from, handler what, consumer_options options);

    [[nodiscard]] result<void> run(std::stop_token stop) override;

private:
    void work_off(const std::stop_token& stop);
    [[nodiscard]] std::vector<handled> handle(std::span<const received> batch);
    // Handles messages again for which the store was unavailable: a store that is away must not use
    // up a message's deliveries.
    void ask_again(std::span<const received> batch, std::vector<handled>& got,
                   const std::stop_token& stop);
    void hold(const std::stop_token& stop, duration length);
    void count(const handled& one);
    void interrupted(const failure& why);

    const std::unique_ptr<source> from_;
    handler what_;
    const consumer_options options_;
    const std::shared_ptr<logger> log_;
    consumer_metrics& metrics_;
    consumer_metrics own_metrics_;
    backoff pauses_;
};

} // namespace semel::consumer
