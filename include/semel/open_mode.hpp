// How much opening a store may do.
#pragma once

#include <cstdint>

namespace semel {

// A database on a server is never created by opening it: there `create` is the same as `existing`.
enum class open_mode : std::uint8_t {
    // Makes a file that is missing, creates its tables and upgrades older ones.
    create,
    // Creates and upgrades nothing. errc::schema_missing, if there is no store or an older one.
    existing,
    // The same, and changes nothing: needs no right to write, and takes a replica or a standby.
    // For lookups, searches and audits only; what writes is refused or fails.
    read_only,
};

} // namespace semel
