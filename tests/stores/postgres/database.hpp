// PostgreSQL as the database that tests/stores/sql is compiled for.
#pragma once

#include "postgres_fixture.hpp"

namespace semel {

using database_client = testing_support::postgres_client;

class database_test : public postgres_test {
protected:
    inline static const std::string key_column = "key";
    inline static const std::string clock_seconds = "extract(epoch FROM clock_timestamp())";
    // How long one locked row may delay the others: a full time-out for all, then moments.
    static constexpr int lock_timeouts_max = 3;

    // Behind the store's back, as if long ago.
    void put_in_the_past(const std::string& time, const std::string& where = "true") {
        sql("UPDATE " + record_table() + " SET " + time + " = 1 WHERE " + where);
    }

    std::string columns_but_key() {
        return sql("SELECT string_agg(column_name, ', ') FROM information_schema.columns WHERE "
                   "column_name <> 'key' AND table_name = '" +
                   record_table() + "'");
    }
};

} // namespace semel
