// A record as a row, and back.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "databases/sqlite/client/connection.hpp"
#include "semel/base/result.hpp"
#include "semel/core/record.hpp"

namespace semel::sqlite {

inline constexpr std::array<std::string_view, 23> record_columns{
    "state",           "fence",        "owner",           "attempts",       "lease_until",
    "begun_at",        "retry_after",  "expires_at",      "created_at",     "updated_at",
    "on_lease_expiry", "attempts_max", "grace",           "processing_max", "fingerprint",
    "checkpoints",     "result_kind",  "result_checksum", "result_type",    "result_ref",
    "error",           "attributes",   "result"};

// An owner as 16 bytes, most significant first.
using owner_bytes = std::array<char, 16>;
[[nodiscard]] owner_bytes bytes_of(const owner_id& owner);

// `owner` keeps the bytes of the record's owner until the query is through.
void bind_record(query& to, int first, const record& it, owner_bytes& owner);

// The record without its checkpoints, and how many there are.
struct decoded {
    record it;
    std::int64_t checkpoints = 0;
};

// errc::corrupt if the row is not one this driver writes.
[[nodiscard]] result<decoded> read_record(const query& from, int first);

} // namespace semel::sqlite
