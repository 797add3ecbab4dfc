// Stores that wrap a store. Each is as thread-safe as any store and owns what it wraps.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/metrics.hpp"
#include "semel/store.hpp"

namespace semel {

struct cached_store_options {
    // Keys, results and their book-keeping; never exceeded. It is split into up to 256 parts of at
    // least 4 MiB, and an answer that would take more than a quarter of a part is not kept.
    std::size_t bytes_max = std::size_t{256} << 20;
    // How long the cache answers without asking the store again. A change by an operator, or by an
    // overwriting begin in another process, is seen here after this time at the latest.
    duration age_max = std::chrono::minutes{1};
    cache_counters* counters = nullptr;     // outlives the store; null: nothing is counted
    std::function<local_time()> clock = {}; // for tests only; empty: local_clock
};

// A near cache of finished records: a repeat of a request that succeeded or failed for good is
// answered inline, without a round trip.
//
// An answer is given only to a begin with the very same `content` as the begin it was first given
// to (both may have none), and not past the record's expiry, counted on the boot-time clock from
// before the store was asked. Everything else goes to the store, which alone tells a mismatch.
// Begins with on_mismatch::overwrite always go to the store and make the cache forget the record;
// so do remove, resolve, purge and the commands of an attempt. While a remove, a resolve or an
// overwriting begin is on its way, nothing is remembered that could predate it; one that fails with
// effect::unknown may still be applied later and is then seen within age_max.
[[nodiscard]] std::unique_ptr<store> open_cached_store(std::unique_ptr<store> inner,
                                                       cached_store_options options = {});

struct metered_store_options {
    // For tests only; empty: std::chrono::steady_clock. Latencies are differences, never deadlines,
    // and need finer steps than local_clock has.
    std::function<std::chrono::nanoseconds()> clock = {};
};

// Counts every command, its answer or failure, and the time between. `metrics` outlives the store.
[[nodiscard]] std::unique_ptr<store> open_metered_store(std::unique_ptr<store> inner,
                                                        store_metrics& metrics,
                                                        metered_store_options options = {});

// Results at rest that only this service can read: AES-256-GCM around any store.

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

struct encrypted_store_options {
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
[[nodiscard]] result<std::unique_ptr<store>> open_encrypted_store(std::unique_ptr<store> inner,
                                                                  encrypted_store_options options);

} // namespace semel
