// Searching records: for operators, reconcilers and lookups by result reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/record.hpp"

namespace semel {

enum class result_bodies : std::uint8_t {
    left_out, // found records have neither the body of their result nor its checksum
    included,
};

// A record is found if it fits every field that is set.
struct record_query {
    std::optional<std::string> tenant = {};
    std::optional<std::string> operation = {};
    std::optional<std::string> key = {};
    std::vector<record_state> states = {}; // empty: any
    std::optional<std::string> result_ref = {};
    // Processing, and lapsed for longer than that: what a reconciler or an operator may settle.
    std::optional<duration> stuck_for = {};
    std::optional<time_point> created_from = {};  // then or later
    std::optional<time_point> created_until = {}; // before that
    result_bodies results = result_bodies::left_out;

    std::size_t records_max = 100;      // 1 to page_max(results)
    std::string cursor = {};            // of the page before; empty: from the beginning
    std::optional<time_point> now = {}; // for tests only: it stands in for the store's clock
};

[[nodiscard]] constexpr std::size_t page_max(result_bodies results) {
    return results == result_bodies::included ? 100 : 1'000;
}

// Without its checkpoints: a lookup has them.
struct found_record {
    record_id id;
    record it;

    friend bool operator==(const found_record&, const found_record&) = default;
};

struct record_page {
    std::vector<found_record> records = {};
    std::string cursor = {}; // printable; empty: this was the last page
};

// The one specification of a search: whether it finds a stored record at `now`. It does not find an
// expired record.
[[nodiscard]] bool matches(const record_query& query, const record_id& id, const record& it,
                           time_point now);

// errc::invalid_argument: records_max out of range, a result_ref that is empty, a negative time.
[[nodiscard]] result<void> check(const record_query& query);

// What a found record has of a stored one.
[[nodiscard]] record shown(record&& it, result_bodies results);
[[nodiscard]] record shown(const record& it, result_bodies results);

// Removing records that are not needed any more: how many at once, how often, and the result.

struct sweep_request {
    std::size_t records_max = 1'000;
    std::optional<time_point> now = {}; // for tests only
};

enum class sweep_state { done, more };

struct sweep_report {
    std::size_t removed = 0;
    sweep_state state = sweep_state::done; // more: call again, there was more than records_max
};

struct sweep_options {
    duration idle = std::chrono::minutes{1};      // after a sweep that left nothing behind
    duration busy = std::chrono::milliseconds{5}; // at least, between batches while there is more
    std::size_t records_max = 1'000;              // per batch
    // A batch that took longer makes the next ones smaller.
    duration batch_time = std::chrono::milliseconds{100};
    // How much of the time the sweeper may work while there is more, in percent.
    unsigned share_percent = 10;
};

} // namespace semel
