// Records in a MySQL or MariaDB database: `mysql://user:password@host:port/database`.
//
// MySQL 8.0 or newer, tested with 9.7; MariaDB 10.6 or newer, tested with 10.11. Which SQL is
// spoken depends on what the server understands, not on its name or version.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/core/policy.hpp"
#include "semel/store.hpp"

namespace semel {

enum class mysql_tls : std::uint8_t {
    off,
    unverified, // encrypted, but the certificate is not checked
    verify,     // the certificate is signed by a trusted authority and names the host
};

// Which SQL the store sends.
enum class mysql_dialect : std::uint8_t {
    automatic, // what the server understands
    mariadb,
    mysql8, // no RETURNING, no time-out of a statement that writes
};

// Not mysql_options: MariaDB's client has a function of that name.
struct mysql_store_options {
    std::string host = "127.0.0.1"; // by TCP, "localhost" as well
    std::uint16_t port = 3306;
    std::string socket = {}; // of a server on this machine, instead of host and port
    std::string user = {};
    std::string password = {};
    std::string database = {};
    mysql_tls tls = mysql_tls::off;
    std::string ca_file = {};   // trusted authorities; empty: the system's
    std::string cert_file = {}; // the client's own, for servers that ask for one
    std::string key_file = {};
    // Tables are called <prefix>record, <prefix>meta …: lower-case letters, digits and underscores.
    std::string table_prefix = "semel_";
    // Batches that are under way at the same time, each on a connection of its own. Two further
    // connections renew leases and sweep.
    std::size_t lanes = 2;
    duration connect_timeout = std::chrono::seconds{5};
    // No command takes longer, whatever the server and the network do: then errc::timed_out.
    duration statement_timeout = std::chrono::seconds{5};
    // How long a batch waits for a row that another program holds locked. Then the batch goes on
    // without the command that met the lock, and that command gets errc::timed_out. MySQL waits in
    // whole seconds, at least one for each lock.
    duration lock_timeout = std::chrono::milliseconds{100};
    std::size_t queue_max = limits{}.queue_max; // waiting begins and look-ups, per lane
    std::size_t batch_max = 256;                // commands per commit
    mysql_dialect dialect = mysql_dialect::automatic;
    store_counters* counters = nullptr; // outlives the store; null: nothing is counted
    open_mode mode = open_mode::create; // read_only: a replica and a user with SELECT will do
};

// Connects and makes sure that the tables are there. Many processes may share them. Time is the
// server's clock. A command is answered after its commit. Commands that waited meanwhile are
// committed together. The server decides how durable a commit is:
// innodb_flush_log_at_trx_commit=1 survives a loss of power, 2 only a crash of the server; 0 is
// refused.
//
// Errors, each with what to do: schema_missing (run `semel migrate`), schema_newer, read_only (a
// replica, or a user without the rights), unsupported (older than MariaDB 10.6 or MySQL 8.0, or not
// durable), invalid_argument (password, database, certificate), unavailable (no answer).
//
// After a lost connection the store connects again by itself. Commands whose commit may have been
// under way get effect::unknown, all others errc::unavailable at once.
//
// Tenant and operation may have 255 bytes, a key 1,024; longer ones get errc::limit_exceeded.
[[nodiscard]] result<std::unique_ptr<store>> open_mysql_store(const mysql_store_options& options);

// What opening refuses before it touches anything: errc::invalid_argument.
[[nodiscard]] result<void> check(const mysql_store_options& options);

// Creates or upgrades the tables; see migration_report. The server commits each CREATE TABLE by
// itself: a migration that breaks off in the middle is taken up again by the next one.
[[nodiscard]] result<migration_report> migrate_mysql(const mysql_store_options& options,
                                                     migrate_mode mode);

} // namespace semel
