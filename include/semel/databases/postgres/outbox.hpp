// The outbox in PostgreSQL.
#pragma once

#include <memory>
#include <string>

#include "semel/databases/postgres.hpp"
#include "semel/outbox.hpp"
#include "semel/outbox/table.hpp"

struct pg_conn; // PGconn

namespace semel::outbox {

// Writes on the caller's connection. The connection must outlive the writer and be in a
// transaction: that of transact() or execute_in(), or any other. In pipeline mode the event is
// queued like any other statement, and the code that reads the results gets its result, too.
class postgres_writer final : public writer {
public:
    explicit postgres_writer(pg_conn* in, std::string table_prefix = "semel_");
    result<void> insert(std::span<const stored_event> all) override;

private:
    pg_conn* const in_;
    const std::string statement_;
};

// A connection for a relay. URL, prefix and time-outs are those of the store.
[[nodiscard]] result<std::unique_ptr<table>>
open_postgres_table(const postgres_store_options& store, const table_options& options = {});

} // namespace semel::outbox
