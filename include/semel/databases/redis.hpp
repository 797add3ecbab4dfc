// Records in Redis: `redis://` and, encrypted, `rediss://`. Shared by a fleet, two round trips per
// execution and one per replay.
//
// The promise depends on the server. With `appendonly yes` and `appendfsync always` every answered
// command survives a crash of the server. With weaker settings, a crash may lose the answered
// commands of the last second or more. A failover to a replica may lose acknowledged claims in any
// case. If that must not happen, put Redis in front of a database (`tiered`).
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/core/policy.hpp"
#include "semel/log.hpp"
#include "semel/net/stream.hpp"
#include "semel/store.hpp"
#include "semel/store/tiered.hpp"

namespace semel {

// What to do about a server that may drop records when its memory is full.
enum class redis_eviction : std::uint8_t {
    refuse, // errc::unsupported at start
    warn,   // open it and log a warning: an evicted record is an effect that may be repeated
};

// How many connections a store opens.
enum class redis_connections : std::uint8_t {
    one_per_lane, // and one each for renewals and for operators
    one,          // for everything: if `connect` can make only one
};

// Whether the end of an attempt is published on the channel named like the record's key.
enum class redis_wake : std::uint8_t { publish, none };

struct redis_store_options {
    std::string host = "127.0.0.1";
    std::uint16_t port = 6379;
    std::string user = {};     // of an ACL; empty: the default user
    std::string password = {}; // empty: none is sent
    std::uint32_t database = 0;

    // Keys are called <prefix>{<hash>}:… — letters, digits and _ - : . only. Several stores with
    // different prefixes may share a database.
    std::string prefix = "semel:";
    std::size_t lanes = 2; // pipelines, each on a connection of its own
    redis_eviction eviction = redis_eviction::refuse;
    redis_wake wake = redis_wake::publish;

    // Encrypted, with the server's certificate and host name verified.
    bool tls = false;
    std::string ca_file = {};   // empty: the system's authorities
    std::string cert_file = {}; // the client's own, where the server asks for one
    std::string key_file = {};

    duration connect_timeout = std::chrono::seconds{2};
    // From the moment a batch is sent until all its answers are there; then errc::timed_out.
    duration command_timeout = std::chrono::seconds{5};

    std::size_t queue_max = limits{}.queue_max; // waiting begins and look-ups, per lane
    std::size_t batch_max = 256;                // commands per round trip

    // Used instead of host, port and tls: called for every connection that the store needs, also to
    // replace a broken one, from any of the store's threads. User, password and database are still
    // sent if set. If the function or its streams throw, the commands that needed them get
    // errc::internal.
    std::function<result<std::unique_ptr<net::stream>>()> connect = {};
    redis_connections connections = redis_connections::one_per_lane;

    open_mode mode = open_mode::create; // read_only: a replica will do, and one that evicts

    store_counters* counters = nullptr; // outlives the store
    std::shared_ptr<logger> log = {};   // default: spdlog to stderr, warnings and above
};

// Connects and looks at the server: Redis 7.0 or newer, no replica, no cluster, no eviction.
// The store replaces broken connections, with growing pauses. Time is the server's.
//
// Redis deletes records that are not needed any more by itself, so sweep() finds nothing to do
// (with a test's time, which Redis does not know, it looks). Records that an operator or a probe
// must settle (policies `hold` and `probe`) are never deleted. Fences rest on the server's clock.
// The store remembers the fence of a removed or released record for a day, and that of an expired
// one for a minute. If the clock goes back further than that, only the owner distinguishes
// attempts.
//
// search() without a whole id walks the keyspace, including keys of other programs, a bounded part
// of it per page. While Redis shrinks or grows its table, it may find a record twice.
//
// Errors: invalid_argument (options; wrong user or password; a certificate that is not trusted or
// for another host), unavailable (not reachable, TLS refused, loading), timed_out, read_only (a
// replica), unsupported (too old, a cluster, eviction), not_a_store (the server is no Redis). Once
// the store is open, a refused login or right is unavailable, and so is a certificate that is not
// trusted: an operator may correct them meanwhile.
[[nodiscard]] result<std::unique_ptr<store>> open_redis_store(const redis_store_options& options);

// What opening refuses before it touches anything: errc::invalid_argument.
[[nodiscard]] result<void> check(const redis_store_options& options);

// Redis as the front of a tiered store (semel/store/tiered.hpp). What the server loses costs time
// only, so it may evict, and need not be there yet. The server is asked with every command: give it
// short time-outs.
//
// Errors as above, but a server that is away is no error.
[[nodiscard]] result<std::unique_ptr<front_tier>>
open_redis_front(const redis_store_options& options);

} // namespace semel
