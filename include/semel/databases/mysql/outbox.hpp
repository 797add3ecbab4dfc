// The outbox in MariaDB and MySQL.
#pragma once

#include <memory>
#include <string>

#include "semel/databases/mysql.hpp"
#include "semel/outbox.hpp"
#include "semel/outbox/table.hpp"

struct st_mysql; // MYSQL

namespace semel::outbox {

// Writes on the caller's connection. The connection must outlive the writer and be in a
// transaction: that of transact() or execute_in(), or any other.
class mysql_writer final : public writer {
public:
    explicit mysql_writer(st_mysql* in, std::string table_prefix = "semel_");
    result<void> insert(std::span<const stored_event> all) override;

private:
    st_mysql* const in_;
    const std::string statement_;
};

// A connection for a relay. Host, prefix and time-outs are those of the store.
[[nodiscard]] result<std::unique_ptr<table>> open_mysql_table(const mysql_store_options& store,
                                                              const table_options& options = {});

} // namespace semel::outbox
