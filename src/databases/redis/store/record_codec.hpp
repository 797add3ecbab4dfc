// A record as the bytes of one Redis string. The scripts know the places of the fixed part, so
// both change together; integers are big-endian.
//
//     1 format   2 state   3 fence (8)   11 owner (16)   27 version (4)   31 updated_at (8)
//    39 expires_at   47 retry_after   55 lease_until   63 begun_at   71 created_at   79 attempts
//    (4) 83 attempts_max (4)   87 grace (8)   95 processing_max (8)   103 on_lease_expiry
//   104 content is there   105 content (32)   137 attributes (length (4), bytes)
//   then checkpoints (length of all (4), each name and data with their lengths), error, result
//   (kind, checksum (8), type, ref, body)
//
// The version grows with every write of one attempt: format to version name a state of the record.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "databases/redis/client/bytes.hpp"
#include "semel/base/result.hpp"
#include "semel/core/record.hpp"
#include "semel/core/record_machine.hpp"

namespace semel::redis {

inline constexpr std::size_t owned_bytes = 26; // format to owner
inline constexpr std::size_t stamp_bytes = 30; // format to version
inline constexpr std::size_t kept_bytes = 140; // format to the length of the attributes

// What is stored under a record's key: a record, or what is left of a removed one.
struct stored_value {
    std::optional<record> it = {};
    std::uint32_t version = 0;
    std::uint64_t fence_floor = 0; // without a record
};

[[nodiscard]] std::string encode(const record& it, std::uint32_t version);
// Remembers the fence of a removed record.
[[nodiscard]] std::string encode_grave(std::uint64_t fence);

// errc::corrupt, or errc::schema_newer if a newer semel has written it.
[[nodiscard]] result<stored_value> decode(std::string_view bytes);

// The pieces that scripts put together.
[[nodiscard]] std::string encode_owned(record_state state, const claim& by);
[[nodiscard]] std::string encode_owner(const owner_id& owner);
// From `attempts` to the end, of a first attempt.
[[nodiscard]] std::string encode_rest(const commands::begin& what);
// Error and result.
[[nodiscard]] std::string encode_end(std::string_view error, const stored_result& result);
void read_end(byte_reader& from, std::string& error, stored_result& result);
[[nodiscard]] std::string encode_content(const std::optional<fingerprint>& content);
void read_content(byte_reader& from, std::optional<fingerprint>& content);

[[nodiscard]] std::string encode(const audit_entry& what);
[[nodiscard]] result<audit_entry> decode_audit(std::string_view bytes);

} // namespace semel::redis
