// Records in an SQLite file: `sqlite:path`. The embedded default: durable, nothing to install.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

#include "semel/base/result.hpp"
#include "semel/core/policy.hpp"
#include "semel/store.hpp"

namespace semel {

struct sqlite_store_options {
    std::string path; // its folder must be there
    // Tables are called <prefix>record, <prefix>meta …: letters, digits and underscores. Several
    // stores with different prefixes may share a file, also with tables of the application.
    std::string table_prefix = "semel_";
    // How long a command waits for other processes that write to the file: then errc::timed_out.
    duration lock_wait = std::chrono::seconds{5};
    std::size_t cache_bytes = std::size_t{32} << 20; // of pages, for the writing connection
    std::size_t queue_max = limits{}.queue_max;      // waiting begins and look-ups
    std::size_t batch_max = 256;                     // commands per commit
    open_mode mode = open_mode::create;
};

// Opens the file and, with open_mode::create, creates it and creates or migrates the tables. Many
// processes may open one file at the same time and use it together; it must lie on a local disk.
//
// The file is switched to write-ahead logging with synchronous=FULL: a command is answered after
// its commit has reached the disk. Commands that waited meanwhile are committed together. Time is
// this machine's wall clock.
//
// With open_mode::read_only nothing is written. If this process may write neither the file nor its
// folder, and no process has the file open, SQLite reads the file without locks: do not start a
// service on the file meanwhile.
//
// Errors, each before anything has been changed: not_a_store (the file is not a database),
// read_only, schema_newer (made by a newer semel), schema_missing (see open_mode), no_space,
// timed_out (locked by another process), invalid_argument (prefix or path), unavailable (the folder
// is missing, or I/O errors).
[[nodiscard]] result<std::unique_ptr<store>> open_sqlite_store(const sqlite_store_options& options);

// What opening refuses before it touches anything: errc::invalid_argument.
[[nodiscard]] result<void> check(const sqlite_store_options& options);

} // namespace semel
