// Any store by its URL.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/core/policy.hpp"
#include "semel/store.hpp"

namespace semel {

// What does not belong into a URL, or is the same for every store. Parameters of the URL win over
// these.
struct store_options {
    std::string table_prefix = "semel_";        // of stores that have tables
    std::size_t queue_max = limits{}.queue_max; // waiting begins and look-ups of a durable store
    store_counters* counters = nullptr; // outlives the store; for drivers that have round trips
    open_mode mode = open_mode::create;
};

// Builds the store a URL names:
//
//   memory:                      records in this process's memory
//     ?records_max=N             bound on records (suffixes k, m, g: powers of 1,000)
//     &bytes_max=N               bound on bytes (suffixes k, m, g: powers of 1,024)
//   sqlite:path                  records in an SQLite file; sqlite:///absolute/path as well
//     ?prefix=NAME               table prefix
//     &lock_wait_ms=N            how long to wait for other processes
//     &cache_bytes=N             page cache (suffixes as above)
//   postgres://user@host/database  records in PostgreSQL; postgresql:// as well
//     ?prefix=NAME               table prefix
//     &lanes=N                   batches under way at the same time, a connection each
//     &batch_max=N               commands per commit
//     &statement_timeout_ms=N    no command takes longer
//     &lock_timeout_ms=N         how long a batch waits for a locked row
//     &sslmode=verify-full&sslrootcert=FILE, connect_timeout=SECONDS and whatever libpq knows
//   mysql://user:password@host:port/database   records in MySQL or MariaDB; mariadb:// as well
//     ?prefix=NAME               table prefix
//     &socket=FILE               of a server on this machine, instead of host and port
//     &lanes=N                   batches under way at the same time, a connection each
//     &batch_max=N               commands per commit
//     &connect_timeout_ms=N&statement_timeout_ms=N&lock_timeout_ms=N   as above
//     &tls=off|unverified|verify default verify where there is a ca_file, else off
//     &ca_file=FILE&cert_file=FILE&key_file=FILE   for TLS
//   redis://user:password@host:port/database   records in Redis; rediss:// for TLS
//     ?prefix=NAME               of its keys, default semel:
//     &lanes=N                   pipelines, a connection each
//     &batch_max=N               commands per round trip
//     &connect_timeout_ms=N&command_timeout_ms=N
//     &eviction=refuse|warn      about a server that may drop records
//     &wake=publish|none         whether the end of an attempt is published
//     &ca_file=FILE&cert_file=FILE&key_file=FILE   for TLS
//   tiered:?front=URL&truth=URL  Redis in front of a store that is the truth (tiered.hpp); in the
//                              two URLs & is written %26 and % is written %25
//     &gate_ms=N                 how long a running attempt is believed without asking the truth
//
// In a path and in values %XX stands for a byte; a `?` in a file name is written %3F.
//
// `memory:` needs the mode `create`, because its records begin with the store. With `read_only` a
// tiered store is its truth alone.
//
// Errors: unknown_store (no such driver; the detail lists the drivers), invalid_argument (the URL
// cannot be read, or has a parameter that the driver does not know), and the errors of the
// driver.
[[nodiscard]] result<std::unique_ptr<store>> open_store(std::string_view url,
                                                        const store_options& options = {});

// Everything about the URL that open_store() refuses before it connects or touches a file. Opens,
// creates and changes nothing; certificates that the URL names are read.
[[nodiscard]] result<void> check_url(std::string_view url, const store_options& options = {});

// Brings the tables behind a store URL up to date. Versioned and idempotent; many processes may run
// it at the same time. With dry_run the report has the SQL. A user that may create tables can run
// it by hand, as one transaction.
//
// Errors: unknown_store, unsupported (a store without tables), schema_newer, and those of opening
// the store.
[[nodiscard]] result<migration_report> migrate(std::string_view url, migrate_mode mode,
                                               const store_options& options = {});

} // namespace semel
