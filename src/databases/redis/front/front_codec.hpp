// What a front remembers, as the bytes of one Redis string. The scripts know the places of the
// head; integers are big-endian.
//
//     1 kind   2 token (8)   10 fence (8)   18 owner (16)   34 attempt (4)   38 grace (8)
//    46 content is there   47 content (32)
//   then, of a gate or rumour, until (8) and lease_until (8), of an end, expires_at (8), error,
//   result. A token alone is kind and token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "semel/base/result.hpp"
#include "semel/store/tiered.hpp"

namespace semel::redis {

[[nodiscard]] std::string encode_token(std::uint64_t token);
[[nodiscard]] std::string encode_entry(std::uint64_t token, const front_entry& entry);

// errc::corrupt
[[nodiscard]] result<front_sight> decode_sight(std::string_view bytes);

// The pieces that scripts put together.
[[nodiscard]] std::string encode_claim(const claim& by);
[[nodiscard]] char kind_letter(front_entry::kind kind);
[[nodiscard]] std::string encode_tail(const front_entry& entry);

} // namespace semel::redis
