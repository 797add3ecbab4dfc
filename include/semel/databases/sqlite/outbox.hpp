// The outbox in SQLite.
#pragma once

#include <memory>
#include <string>

#include "semel/databases/sqlite.hpp"
#include "semel/outbox.hpp"
#include "semel/outbox/table.hpp"

struct sqlite3;

namespace semel::outbox {

// Writes on the caller's connection. The connection must outlive the writer and be in a
// transaction: that of transact() or execute_in(), or any other. Its `synchronous` must be FULL or
// EXTRA: otherwise a power cut could undo rows whose event has gone out.
class sqlite_writer final : public writer {
public:
    explicit sqlite_writer(sqlite3* in, std::string table_prefix = "semel_");
    result<void> insert(std::span<const stored_event> all) override;

private:
    sqlite3* const in_;
    const std::string statement_;
};

// A connection for a relay. SQLite has one writer at a time: one relay per file is enough.
[[nodiscard]] result<std::unique_ptr<table>> open_sqlite_table(const sqlite_store_options& store,
                                                               const table_options& options = {});

} // namespace semel::outbox
