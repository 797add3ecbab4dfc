// SHA-256 and HMAC-SHA-256 over OpenSSL. Contexts are kept per thread: making one costs more than
// hashing a small body.
#pragma once

#include <initializer_list>
#include <string_view>

#include "semel/fingerprint.hpp"

namespace semel::detail {

using parts_view = std::initializer_list<std::string_view>;

// The digest of the parts, one after the other.
[[nodiscard]] fingerprint sha256(parts_view parts);
[[nodiscard]] fingerprint hmac_sha256(std::string_view secret, parts_view parts);

// The one rule of all options: a secret means HMAC.
[[nodiscard]] fingerprint digest(std::string_view secret, parts_view parts);

} // namespace semel::detail
