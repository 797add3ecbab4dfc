// Random steps that reach every branch of the record machine. The same seed and the same answers
// give the same steps.
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "conformance/checker.hpp"

namespace semel::conformance {

// Record ids that a careless store takes for one another.
[[nodiscard]] const std::vector<record_id>& confusable_ids();

// Not thread-safe.
class workload {
public:
    explicit workload(std::uint64_t seed) : random_(seed) {}

    // Chooses with a view to what the model knows: claims that are right, stale or forged, times
    // just before and after something lapses.
    [[nodiscard]] step next(checker& model);

private:
    [[nodiscard]] envelope next_queued();
    [[nodiscard]] const record_id& pick_id();
    void move_time(const known& it);
    [[nodiscard]] command pick_command(const known& it);
    [[nodiscard]] commands::begin begin();
    [[nodiscard]] commands::release release(const known& it);
    [[nodiscard]] commands::resolve resolve(const known& it);
    [[nodiscard]] claim pick_claim(const known& it);
    [[nodiscard]] stored_result result();
    [[nodiscard]] std::string body(std::size_t limit);
    void queue_checkpoints(const record_id& id, const claim& by);

    [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
    [[nodiscard]] bool chance(std::uint64_t percent) { return below(100) < percent; }
    template <class T, std::size_t N> [[nodiscard]] T one_of(const T (&choices)[N]) {
        return choices[below(N)];
    }

    std::mt19937_64 random_;
    std::deque<envelope> queued_; // to be sent next, one after the other
    time_point now_ = time_point{std::chrono::seconds{2'000'000'000}};
    std::size_t steps_ = 0;
    std::size_t hot_ = 0; // where in confusable_ids() most of the steps go
};

} // namespace semel::conformance
