// Results at rest that only this service can read: AES-256-GCM around any store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "semel/metrics.hpp"
#include "semel/result.hpp"
#include "semel/store.hpp"

namespace semel {

struct encryption_key {
    std::string id = {};     // 1 to 64 bytes, written beside what it encrypts; never used again
    std::string secret = {}; // 32 random bytes
};

// How results that were stored before encryption was switched on are read.
enum class unencrypted : std::uint8_t {
    refuse, // as damaged: an attacker who can write to the store could have put them there
    accept, // as they are: use it until the last of them has expired
};

struct encryption_counters {
    counter unreadable = {}; // results and checkpoints that no key opens, or that were moved
};

struct encryption_options {
    // The first one encrypts, all of them decrypt: to rotate, put a new one in front and drop the
    // old one when everything written with it has expired. Nonces are random, so a key is good for
    // 2^32 results.
    std::vector<encryption_key> keys = {};
    unencrypted others = unencrypted::refuse;
    encryption_counters* counters = nullptr; // outlives the store; null: nothing is counted
};

// Encrypts the bodies of results and the data of checkpoints; everything else (ids, fingerprints,
// types, references, errors, attributes) stays readable. A result is bound to its record id and the
// fence of the attempt that made it, which has one fingerprint: moved to another record, or kept
// for a later attempt, it does not open. The result of a verdict is bound to its record from the
// judged fence on: it also opens under a later fence of that record. Put `cached` outside, or
// replays pay for decryption.
//
// A result that does not open comes back failing its checksum: the engine neither replays it nor
// runs the work again. A begin or lookup whose checkpoints do not open fails with errc::corrupt.
//
// invalid_argument: no key, a secret that has not 32 bytes, or an id that is empty, too long or
// used twice. As thread-safe as any store; owns what it wraps.
[[nodiscard]] result<std::unique_ptr<store>> encrypted(std::unique_ptr<store> inner,
                                                       encryption_options options);

} // namespace semel
