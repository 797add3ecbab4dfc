// The floor of any MariaDB store: a client with prepared statements of its own on the driver's
// table, one operation at a time, without lanes, batches, record machine or engine.
#pragma once

#include <mysql.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench.hpp"

namespace semel::bench {

// An application's connection. Throws on every error.
class mysql_client {
public:
    explicit mysql_client(unsigned port);
    mysql_client(const mysql_client&) = delete;
    mysql_client& operator=(const mysql_client&) = delete;
    ~mysql_client();

    void sql(const std::string& text);
    void check(bool good);
    [[nodiscard]] MYSQL* native() { return on_; }

private:
    MYSQL* const on_;
};

// A prepared statement whose parameters are all bytes or numbers.
class mysql_statement {
public:
    mysql_statement(mysql_client& on, const std::string& text);
    mysql_statement(const mysql_statement&) = delete;
    mysql_statement& operator=(const mysql_statement&) = delete;
    ~mysql_statement();

    mysql_statement& bind(std::size_t at, const std::string& bytes); // which must live until run()
    mysql_statement& bind(std::size_t at, const long long& number);
    // Rows that it found or changed.
    std::uint64_t run();

private:
    mysql_client& on_;
    MYSQL_STMT* const it_;
    std::vector<MYSQL_BIND> values_;
};

// One thread at a time.
class bare_mysql {
public:
    bare_mysql(unsigned port, std::string prefix);

    // Insert record, update record: a commit each. From number `first` on; how many it got done.
    [[nodiscard]] std::size_t run_first(std::uint64_t first, seconds most);
    // Looks up keys with numbers below `known`.
    [[nodiscard]] std::size_t run_replays(std::size_t known, std::uint64_t seed, seconds most);
    // What an application does by hand: begin, insert the record, the order, update the record,
    // commit.
    [[nodiscard]] std::size_t run_transactions(std::uint64_t first, seconds most);
    // BEGIN, INSERT, COMMIT.
    [[nodiscard]] std::size_t run_orders(seconds most);

    // Finished records for the keys with numbers below `count`.
    void preload(std::size_t count);

private:
    void insert(std::uint64_t number);
    void complete(std::uint64_t number);

    mysql_client on_;
    const std::string prefix_;
    const std::string holder_;
    mysql_statement insert_;
    mysql_statement update_;
    mysql_statement look_;
    mysql_statement order_;
};

// The application's table and its statement.
[[nodiscard]] std::string orders_table();
[[nodiscard]] std::string insert_order();

} // namespace semel::bench
