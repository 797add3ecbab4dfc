// MariaDB as the database that tests/stores/sql is compiled for.
#pragma once

#include "mysql_fixture.hpp"

namespace semel {

using database_client = testing_support::mysql_client;

class database_test : public mysql_test {
protected:
    inline static const std::string key_column = "`key`";
    inline static const std::string clock_seconds = "UNIX_TIMESTAMP()";
    // How long one locked row may delay the others: a batch waits for it, then its parts do.
    static constexpr int lock_timeouts_max = 5;

    // Behind the store's back, as if long ago; due_at follows the other times.
    void put_in_the_past(const std::string& time, const std::string& where = "true") {
        sql("UPDATE " + record_table() + " SET " + time + " = 1, due_at = 1 WHERE " + where);
    }

    std::string columns_but_key() {
        return sql("SELECT GROUP_CONCAT(CONCAT('`', column_name, '`')) FROM "
                   "information_schema.columns WHERE column_name <> 'key' AND table_schema = "
                   "DATABASE() AND table_name = '" +
                   record_table() + "'");
    }
};

} // namespace semel
