// What the PostgreSQL examples have in common: a connection, and tables that go away.
#pragma once

#include <libpq-fe.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include <semel/open.hpp>

namespace example {

constexpr int skipped = 77; // for tests without a server

// Of the server that the program is run with: SEMEL_TEST_POSTGRES=postgres://user@host/database
inline const char* server() {
    return std::getenv("SEMEL_TEST_POSTGRES");
}

struct finisher {
    void operator()(PGconn* it) const { PQfinish(it); }
};
using connection = std::unique_ptr<PGconn, finisher>;

inline connection connect() {
    connection made{PQconnectdb(server())};
    if (PQstatus(made.get()) != CONNECTION_OK) throw std::runtime_error{PQerrorMessage(made.get())};
    return made;
}

// The first column of the first row, or "".
inline std::string run(PGconn* on, const std::string& sql) {
    PGresult* const got = PQexec(on, sql.c_str());
    const auto status = PQresultStatus(got);
    const std::string first = PQntuples(got) > 0 ? PQgetvalue(got, 0, 0) : "";
    PQclear(got);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
        throw std::runtime_error{PQerrorMessage(on)};
    }
    return first;
}

// A schema of its own, with the application's table and those of semel.
class tables {
public:
    explicit tables(std::string name) : name_(std::move(name)), on_(connect()) {
        run(on_.get(), "DROP SCHEMA IF EXISTS " + name_ + " CASCADE; CREATE SCHEMA " + name_);
        ::setenv("PGOPTIONS", ("-c search_path=" + name_).c_str(), 1); // of all new connections
        on_ = connect();
        run(on_.get(), "CREATE TABLE orders (id bigint GENERATED ALWAYS AS IDENTITY, item text)");
        semel::migrate(server(), semel::migrate_mode::run).value();
    }
    tables(const tables&) = delete;
    tables& operator=(const tables&) = delete;
    ~tables() { PQclear(PQexec(on_.get(), ("DROP SCHEMA " + name_ + " CASCADE").c_str())); }

    [[nodiscard]] std::string orders() { return run(on_.get(), "SELECT count(*) FROM orders"); }

private:
    std::string name_;
    connection on_;
};

} // namespace example
