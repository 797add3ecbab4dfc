// Searching records: for operators, reconcilers and lookups by result reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "semel/record.hpp"
#include "semel/result.hpp"
#include "semel/time.hpp"

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

} // namespace semel
