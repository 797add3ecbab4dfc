// The traffic that semel and its references are given: the same keys, contents and answers.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench.hpp"
#include "semel/engine/request.hpp"
#include "semel/fingerprint.hpp"

namespace semel::bench {

// splitmix64.
[[nodiscard]] std::uint64_t mix(std::uint64_t value);

// 33 bytes: two 64-bit numbers in hex.
[[nodiscard]] std::string key_of(std::uint64_t number);
[[nodiscard]] std::vector<std::string> make_keys(std::uint64_t first, std::size_t count);

// Callers hash their content before they call; what that costs is not in question here.
[[nodiscard]] fingerprint content_of(const std::string& key);

// 120 bytes.
[[nodiscard]] const std::string& answer_body();

[[nodiscard]] request request_for(const std::string& key);

// Keys in an order that no cache or prefetcher foresees; different for every seed.
class random_order {
public:
    random_order(std::uint64_t seed, std::size_t count) : state_(mix(seed)), count_(count) {}
    [[nodiscard]] std::size_t next() { return (state_ = mix(state_)) % count_; }

private:
    std::uint64_t state_;
    std::size_t count_;
};

class stopwatch {
public:
    [[nodiscard]] seconds elapsed() const { return std::chrono::steady_clock::now() - began_; }

private:
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// Adds up the turns of one way.
class meter {
public:
    template <class Run> void add(Run run) {
        const stopwatch watch;
        done_ += run();
        took_ += watch.elapsed();
    }
    [[nodiscard]] double rate() const { return static_cast<double>(done_) / took_.count(); }

private:
    std::size_t done_ = 0;
    seconds took_{0};
};

// How long `what(thread)` takes on so many threads; one runs on the calling thread.
[[nodiscard]] seconds time_threads(std::size_t threads,
                                   const std::function<void(std::size_t)>& what);

// Refuses to measure an operation that did not do what the row says.
void require(bool holds, const char* what);

} // namespace semel::bench
