// The names of a record's keys. `<prefix>{<hash>}:r:4:acme12:ORDER_CREATEkey`
//
// The part in braces decides where a Redis Cluster keeps a key: the record's hash, so that the keys
// of one record lie together and those of one tenant do not. Tenant and operation carry their
// lengths, so that two ids never share a key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "semel/core/record.hpp"

namespace semel::redis {

// Letters, digits and _ - : . so that nothing in it means anything in a pattern or a hash tag.
[[nodiscard]] bool valid_prefix(std::string_view prefix);

// `hash` is hash_of(id).
[[nodiscard]] std::string record_key(std::string_view prefix, std::uint64_t hash,
                                     const record_id& id);
[[nodiscard]] std::string audit_key(std::string_view prefix, std::uint64_t hash,
                                    const record_id& id);

// Of what a front remembers about the record.
[[nodiscard]] std::string front_key(std::string_view prefix, std::uint64_t hash,
                                    const record_id& id);

// What SCAN matches the records, or all that a front remembers, of a prefix with.
[[nodiscard]] std::string record_pattern(std::string_view prefix);
[[nodiscard]] std::string front_pattern(std::string_view prefix);

// The id in a record's key, or nothing if it is no such key.
[[nodiscard]] std::optional<record_id> id_in(std::string_view key, std::string_view prefix);

} // namespace semel::redis
