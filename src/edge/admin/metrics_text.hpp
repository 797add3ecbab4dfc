// Numbers in the text format of Prometheus (version 0.0.4). Not thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "semel/core/metrics.hpp"

namespace semel::edge {

class metrics_text {
public:
    using label = std::pair<std::string_view, std::string_view>;
    using labels = std::initializer_list<label>;

    // Begins a family: what follows until the next one belongs to it. Names are constants of ours
    // and go behind "semel_"; labels never hold keys or tenants.
    void counter(std::string_view name, std::string_view help);
    void gauge(std::string_view name, std::string_view help);
    void histogram(std::string_view name, std::string_view help);

    void value(std::uint64_t number, labels with = {});
    // A whole histogram in seconds: buckets from 16 µs to 17 s, each twice as wide as the last.
    void value(const latency_snapshot& times, labels with = {});
    // Sizes: bucket i holds those up to 2^i, the last one the rest.
    void value(const std::array<std::uint64_t, size_histogram::bucket_count>& sizes,
               std::uint64_t sum);

    [[nodiscard]] std::string finish() && { return std::move(text_); }

private:
    void family(std::string_view name, std::string_view help, std::string_view type);
    void line(std::string_view suffix, labels with, std::string_view more, std::string_view number);

    std::string text_;
    std::string name_;
};

} // namespace semel::edge
