// PostgreSQL as the database that tests/stores/sql is compiled for.
#pragma once

#include <string>

#include "looped_transaction.hpp"
#include "postgres_fixture.hpp"
#include "semel/databases/postgres/transaction.hpp"
#include "support/tcp_proxy.hpp"

namespace semel {

using database_client = testing_support::postgres_client;
using database_prefix = testing_support::postgres_prefix;
// The same tests are compiled twice: for callers that block, and for callers that do not.
#ifdef SEMEL_TEST_LOOPED
using database_transaction = looped_transaction;
using database_engine = looped_engine;
#else
using database_transaction = postgres_transaction;
using database_engine = engine;
#endif

inline constexpr const char* database_kind = "postgres"; // as tools/servers calls it
// Against callers without a transaction, too. Else the record's write is guarded by what was seen.
inline constexpr bool transaction_locks_row = false;
inline constexpr const char* sleep_two_seconds = "SELECT pg_sleep(2)";

inline int database_port() {
    const std::string url = testing_support::postgres_url();
    return std::stoi(url.substr(url.rfind(':') + 1));
}

// Unencrypted, so that what is sent has the same length each time.
inline std::string database_url(int port) {
    return "postgres://semel@127.0.0.1:" + std::to_string(port) +
           "/semel?sslmode=disable&gssencmode=disable";
}
inline postgres_store_options options_at(int port) {
    return {.url = database_url(port)};
}
inline database_client client_at(int port) {
    return database_client{database_url(port)};
}
inline std::string as_text(const std::string& column) {
    return column;
}
using database_pool = postgres_pool;
using database_pool_options = postgres_pool_options;
using pooled_connection = postgres_connection&;
inline constexpr bool pools_hand_over = true;
inline void execute_on(postgres_connection& on, const std::string& text) {
    PGresult* const got = PQexec(on.native(), text.c_str());
    const bool fine = PQresultStatus(got) == PGRES_COMMAND_OK;
    PQclear(got);
    if (!fine) throw std::runtime_error{PQerrorMessage(on.native())};
}
// At the server, while nothing is asked on it.
inline void disconnect(database_client& client) {
    database_client{}.sql("SELECT pg_terminate_backend(" +
                          std::to_string(PQbackendPID(client.native())) + ", 5000)");
}
// How else work may end its transaction and begin another.
inline const std::initializer_list<const char*> further_tricks{"COMMIT AND CHAIN",
                                                               "ROLLBACK AND CHAIN"};
inline bool is_in_transaction(database_client& client) {
    return PQtransactionStatus(client.native()) != PQTRANS_IDLE;
}
// It travels with the record, and both are statements that the connection keeps.
inline void cut_answer_to_commit(testing_support::tcp_proxy& proxy) {
    proxy.cut_after(testing_support::direction::to_client, 0);
}
inline result<std::unique_ptr<store>> open_database(const postgres_store_options& options) {
    return open_postgres_store(options);
}

// A user who may read the tables with that prefix; the right goes with them.
class database_reader {
public:
    explicit database_reader(const std::string& prefix) {
        for (const char* table : {"meta", "record", "checkpoint", "audit", "outbox"}) {
            database_client{}.sql("GRANT SELECT ON " + prefix + table + " TO secret");
        }
    }

    [[nodiscard]] static std::string user() { return "secret:right"; } // with the password
};

// What a store sends and gets for a begin, at least, and where to cut it: a prime, so that the cuts
// fall everywhere.
inline constexpr std::size_t begin_bytes = 900;
inline constexpr std::size_t begin_stride = 23;

class database_test : public postgres_test {
protected:
    inline static const std::string key_column = "key";
    inline static const std::string clock_seconds = "extract(epoch FROM clock_timestamp())";
    // How long a lock is waited for before anything else is tried.
    static duration first_wait() { return {}; }
    // How long one locked row may delay the others: a full time-out for all, then moments.
    static constexpr int lock_timeouts_max = 3;

    // Behind the store's back, as if long ago.
    void put_in_the_past(const std::string& time, const std::string& where = "true") {
        sql("UPDATE " + record_table() + " SET " + time + " = 1 WHERE " + where);
    }

    // Whether a statement with that word waits for a row that another transaction has locked.
    bool waits_for_lock(const std::string& word) {
        return sql("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query "
                   "LIKE '%" +
                   word + "%'") != "0";
    }
    // A transaction that survives deadlocks: whoever looks for one first is its victim.
    static void begin_as_survivor(database_client& client) {
        client.sql("SET deadlock_timeout = '10min'");
        client.sql("BEGIN");
    }

    std::string columns_but_key() {
        return sql("SELECT string_agg(column_name, ', ') FROM information_schema.columns WHERE "
                   "column_name <> 'key' AND table_name = '" +
                   record_table() + "'");
    }
};

} // namespace semel
