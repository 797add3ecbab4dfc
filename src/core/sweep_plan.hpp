// When to sweep next, and how much: batch after batch while there is more, bounded in records and
// time, throttled, less so the longer it falls behind, and rarely when there is nothing.
#pragma once

#include <cstddef>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/search.hpp"

namespace semel {

// invalid_argument names the option.
[[nodiscard]] result<void> check(const sweep_options& options);

// Plain value; no thread-safety of its own.
class sweep_pace {
public:
    explicit sweep_pace(const sweep_options& options)
        : options_(options), records_max_(options.records_max) {}

    // Of the next batch.
    [[nodiscard]] std::size_t records_max() const { return records_max_; }

    // How long to pause after a batch with this report (or failure) that took this long.
    [[nodiscard]] duration next(const result<sweep_report>& last, duration took);

private:
    [[nodiscard]] unsigned share_percent() const;

    const sweep_options options_;
    std::size_t records_max_;
    duration behind_ = {}; // how long there has been more than it could remove
};

} // namespace semel
