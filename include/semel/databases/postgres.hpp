// Records in a PostgreSQL database: `postgres://user@host/database`.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/core/policy.hpp"
#include "semel/store.hpp"

namespace semel {

struct postgres_store_options {
    // libpq's own form, with its own parameters: postgres://user:password@host:port/database
    // ?sslmode=verify-full&sslrootcert=ca.crt… A connection string of key=value pairs works too.
    std::string url;
    // Tables are called <prefix>record, <prefix>meta …: lower-case letters, digits and underscores.
    std::string table_prefix = "semel_";
    // Batches that are under way at the same time, each on a connection of its own. Two further
    // connections renew leases and sweep. Few lanes make large batches; more pay where the server
    // has many processors or is far away.
    std::size_t lanes = 2;
    duration connect_timeout = std::chrono::seconds{5}; // the URL's connect_timeout goes first
    // No command takes longer, whatever the server and the network do: then errc::timed_out.
    duration statement_timeout = std::chrono::seconds{5};
    // How long a batch waits for a row that another program holds locked. Then the batch goes on
    // without the command that met the lock, and that command gets errc::timed_out.
    duration lock_timeout = std::chrono::milliseconds{100};
    std::size_t queue_max = limits{}.queue_max; // waiting begins and look-ups, per lane
    std::size_t batch_max = 256;                // commands per commit
    store_counters* counters = nullptr;         // outlives the store; null: nothing is counted
    open_mode mode = open_mode::create; // read_only: a standby and a user with SELECT will do
};

// Connects and makes sure that the tables are there. Many processes may share them. Time is the
// server's clock. A command is answered after its commit. Commands that waited meanwhile are
// committed together. Connections must be direct, or through a pooler in session mode.
//
// Errors, each with what to do: schema_missing (run `semel migrate`), schema_newer, read_only (a
// standby), unsupported (older than PostgreSQL 13), invalid_argument (URL, password, database,
// certificate), unavailable (no answer).
//
// After a lost connection the store connects again by itself. Commands whose commit may have been
// under way get effect::unknown, all others errc::unavailable at once.
[[nodiscard]] result<std::unique_ptr<store>>
open_postgres_store(const postgres_store_options& options);

// What opening refuses before it touches anything: errc::invalid_argument.
[[nodiscard]] result<void> check(const postgres_store_options& options);

// Creates or upgrades the tables; see migration_report. Only `url`, `table_prefix` and
// `connect_timeout` count.
[[nodiscard]] result<migration_report> migrate_postgres(const postgres_store_options& options,
                                                        migrate_mode mode);

} // namespace semel
