// What log_key() hashes with.
#pragma once

#include <string>

namespace semel {

// For a whole process, before its first line: from here on log_key() gives the first 12 digits of
// HMAC-SHA-256 under this secret. Without one the digits are the same everywhere, and a key that
// can be guessed can be found by trying.
void hash_keys_with(std::string secret);

} // namespace semel
