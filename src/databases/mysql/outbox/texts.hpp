// The SQL of the outbox in MariaDB and MySQL. Values stand in the text: statements travel together.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "semel/outbox.hpp"
#include "semel/outbox/table.hpp"

namespace semel::outbox::my {

// For any session: bytes as x'…'.
[[nodiscard]] std::string insert_text(std::span<const stored_event> all, const std::string& head);
[[nodiscard]] std::string insert_head(std::string_view prefix);

// For our own sessions. `semel_` is replaced by the prefix when they are sent.
inline constexpr const char* clock = "TIMESTAMPDIFF(MICROSECOND,'1970-01-01',UTC_TIMESTAMP(6))";

[[nodiscard]] std::string id_list(std::span<const std::int64_t> ids); // "(1,2,3)", sorted
[[nodiscard]] std::string columns();
[[nodiscard]] std::string owner_text(const owner_id& owner);

// WHERE … ORDER BY … LIMIT n of a claim: one range of idx_claim, in its order. Anything else would
// be sorted first, and then every row of the shard would be locked.
[[nodiscard]] std::string range(const claim_request& which);
// UPDATE (SELECT … SKIP LOCKED) … JOIN: never `IN (SELECT …)`, which walks the whole primary key.
// Uses @n, the time.
[[nodiscard]] std::string claim(const claim_request& which);
// The rows that the claim above has taken.
[[nodiscard]] std::string claimed(const claim_request& which);

// One statement each.
[[nodiscard]] std::vector<std::string> settle(const settlement& last, const std::string& guard,
                                              on_ack ack);
[[nodiscard]] std::string lock_guard(const row_lock& by);
[[nodiscard]] std::string shard_guard(const shard_lock& by);
// A row given back; uses @n.
[[nodiscard]] std::string give_back(const returned_row& row, const std::string& guard);

} // namespace semel::outbox::my
