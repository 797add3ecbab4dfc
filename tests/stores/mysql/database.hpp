// MariaDB or MySQL as the database that tests/stores/sql is compiled for.
#pragma once

#include <chrono>
#include <string>
#include <thread>

#include "mysql_fixture.hpp"
#include "semel/databases/mysql/transaction.hpp"
#include "semel/engine.hpp"
#include "support/tcp_proxy.hpp"

namespace semel {

using database_client = testing_support::mysql_client;
using database_prefix = testing_support::mysql_prefix;
using database_transaction = mysql_transaction;
using database_engine = engine;

inline const std::string database_kind = testing_support::name_of(testing_support::tested_mysql);
// Against callers without a transaction, too.
inline constexpr bool transaction_locks_row = true;
inline constexpr const char* sleep_two_seconds = "SELECT SLEEP(2)";

inline int database_port() {
    return testing_support::mysql_port();
}

inline std::string database_url(int port) {
    return "mysql://semel:semel@127.0.0.1:" + std::to_string(port) + "/semel";
}
inline mysql_store_options options_at(int port) {
    return {.port = static_cast<std::uint16_t>(port),
            .user = "semel",
            .password = "semel",
            .database = "semel"};
}
inline database_client client_at(int port) {
    return database_client{port};
}
inline std::string as_text(const std::string& column) {
    return column;
}
using database_pool = mysql_pool;
using database_pool_options = mysql_pool_options;
using pooled_connection = st_mysql*;
inline constexpr bool pools_hand_over = false;
inline void execute_on(st_mysql* on, const std::string& text) {
    if (mysql_query(on, text.c_str()) != 0) throw std::runtime_error{mysql_error(on)};
}
// At the server, while nothing is asked on it.
inline void disconnect(database_client& client) {
    database_client{}.sql("KILL " + std::to_string(mysql_thread_id(client.native())));
}
// How else work may end its transaction and begin another.
inline const std::initializer_list<const char*> further_tricks{"COMMIT AND CHAIN",
                                                               "ROLLBACK AND CHAIN"};
inline bool is_in_transaction(database_client& client) {
    client.sql("DO 1"); // an error does not say
    return (client.native()->server_status & SERVER_STATUS_IN_TRANS) != 0;
}
// MySQL gets each statement on its own.
inline void cut_answer_to_commit(testing_support::tcp_proxy& proxy) {
    proxy.cut_answer_to("COMMIT");
}
inline result<std::unique_ptr<store>> open_database(const mysql_store_options& options) {
    return open_mysql_store(options);
}

// A user who may read the tables with that prefix.
class database_reader {
public:
    explicit database_reader(const std::string& prefix) : name_(prefix + "reader") {
        admin_.sql("CREATE USER " + name_ + " IDENTIFIED BY 'x'");
        for (const char* table : {"meta", "record", "checkpoint", "audit", "outbox"}) {
            admin_.sql("GRANT SELECT ON semel." + prefix + table + " TO " + name_);
        }
    }
    database_reader(const database_reader&) = delete;
    database_reader& operator=(const database_reader&) = delete;
    ~database_reader() { admin_.sql("DROP USER " + name_); }

    [[nodiscard]] std::string user() const { return name_ + ":x"; } // with the password

private:
    const std::string name_;
    database_client admin_{testing_support::mysql_port(), "root", ""};
};

// What a store sends and gets for a begin, at least, and where to cut it.
inline constexpr std::size_t begin_bytes = 2'500;
inline constexpr std::size_t begin_stride = 92;

class database_test : public mysql_test {
protected:
    inline static const std::string key_column = "`key`";
    inline static const std::string clock_seconds = "UNIX_TIMESTAMP()";
    // How long a lock is waited for before anything else is tried: MySQL counts in seconds.
    static duration first_wait() {
        using testing_support::mysql_kind;
        return std::chrono::seconds{testing_support::tested_mysql == mysql_kind::mysql ? 1 : 0};
    }
    // How long one locked row may delay the others: a batch waits for it, then its parts do.
    static constexpr int lock_timeouts_max = 5;

    // Behind the store's back, as if long ago; due_at follows the other times.
    void put_in_the_past(const std::string& time, const std::string& where = "true") {
        sql("UPDATE " + record_table() + " SET " + time + " = 1, due_at = 1 WHERE " + where);
    }

    // Whether a statement with that word waits for a row that another transaction has locked. For
    // 100 ms after each question, of whomever, the server answers from what it knew before: so
    // those who ask take turns, or two of them could keep each other from the truth for ever.
    bool waits_for_lock(const std::string& word) {
        sql("DO GET_LOCK('who_waits', 60)");
        std::this_thread::sleep_for(std::chrono::milliseconds{150});
        const std::string waiting = sql("SELECT count(*) FROM information_schema.INNODB_TRX WHERE "
                                        "trx_state = 'LOCK WAIT' AND trx_query LIKE '%" +
                                        word + "%'");
        sql("DO RELEASE_LOCK('who_waits')");
        return waiting != "0";
    }
    // A transaction that survives deadlocks: the victim is who has changed least.
    void begin_as_survivor(database_client& client) {
        const std::string table = prefix() + "weight";
        client.sql("CREATE TABLE IF NOT EXISTS " + table + " (number INT)");
        client.sql("BEGIN");
        client.sql("INSERT INTO " + table + " SELECT seq FROM " +
                   testing_support::mysql_numbers(3));
    }

    std::string columns_but_key() {
        return sql("SELECT GROUP_CONCAT(CONCAT('`', column_name, '`')) FROM "
                   "information_schema.columns WHERE column_name <> 'key' AND table_schema = "
                   "DATABASE() AND table_name = '" +
                   record_table() + "'");
    }
};

} // namespace semel
