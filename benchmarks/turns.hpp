// The measurements of a round, in changing order.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "workload.hpp"

namespace semel::bench {

// What runs before leaves work behind (pages to write, rows to clean up, a warm memory). So each
// round begins at another place of the list, and every other one goes through it backwards: nothing
// is always measured in the wake of the same.
template <class Rates> class turns {
public:
    // Operations per second; `run` gives how many were done.
    void add(double Rates::*to, std::function<std::size_t()> run) {
        add_rate(to, [run = std::move(run)] {
            const stopwatch watch;
            const std::size_t done = run();
            return static_cast<double>(done) / watch.elapsed().count();
        });
    }
    void add_rate(double Rates::*to, std::function<double()> rate) {
        all_.push_back({to, std::move(rate)});
    }

    // `round` counts from 0.
    void take(std::size_t round, std::size_t rounds, Rates& to) const {
        const std::size_t count = all_.size();
        const std::size_t first = count * round / rounds;
        for (std::size_t i = 0; i < count; ++i) {
            const auto& one = all_[(round % 2 == 0 ? first + i : first + count - i) % count];
            to.*one.to = one.rate();
        }
    }

private:
    struct measurement {
        double Rates::*to;
        std::function<double()> rate;
    };
    std::vector<measurement> all_;
};

} // namespace semel::bench
