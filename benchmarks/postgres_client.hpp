// A connection of the application, for SQL of its own.
#pragma once

#include <libpq-fe.h>

#include <string>

#include "workload.hpp"

namespace semel::bench {

class postgres_client {
public:
    explicit postgres_client(const std::string& url) : on_(PQconnectdb(url.c_str())) {
        require(PQstatus(on_) == CONNECTION_OK, PQerrorMessage(on_));
    }
    postgres_client(const postgres_client&) = delete;
    postgres_client& operator=(const postgres_client&) = delete;
    ~postgres_client() { PQfinish(on_); }

    void sql(const std::string& text) { check(PQexec(on_, text.c_str())); }
    void prepare(const char* name, const char* text) {
        check(PQprepare(on_, name, text, 0, nullptr));
    }
    // The work of a transaction.
    void prepare_order() {
        prepare("order", "INSERT INTO orders (customer, amount, note) VALUES (1, 1999, 'order "
                         "created by the benchmark client, some text')");
    }
    void run(const char* prepared) {
        check(PQexecPrepared(on_, prepared, 0, nullptr, nullptr, nullptr, 0));
    }
    void queue(const char* prepared) {
        require(PQenterPipelineMode(on_) == 1, PQerrorMessage(on_));
        require(PQsendQueryPrepared(on_, prepared, 0, nullptr, nullptr, nullptr, 0) == 1,
                PQerrorMessage(on_));
    }
    [[nodiscard]] PGconn* native() { return on_; }

private:
    void check(PGresult* got) {
        const auto status = PQresultStatus(got);
        PQclear(got);
        require(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, PQerrorMessage(on_));
    }

    PGconn* const on_;
};

} // namespace semel::bench
