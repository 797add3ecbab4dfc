// A PostgreSQL server for tests, and SQL behind the store's back.
#pragma once

#include <libpq-fe.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace semel::testing_support {

// Throws, and so fails the test, where there is no server.
inline std::string postgres_url() {
    const char* const url = std::getenv("SEMEL_TEST_POSTGRES");
    if (url == nullptr) {
        throw std::runtime_error("SEMEL_TEST_POSTGRES is not set: `./test stores` and `./test "
                                 "conformance` start the servers, or use `tools/servers run`");
    }
    return url;
}

// A connection of the test's own.
class postgres_client {
public:
    explicit postgres_client(const std::string& url = postgres_url())
        : it_(PQconnectdb(url.c_str())) {
        if (PQstatus(it_) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(it_));
        sql("SET client_min_messages = warning");
    }
    postgres_client(const postgres_client&) = delete;
    postgres_client& operator=(const postgres_client&) = delete;
    ~postgres_client() { PQfinish(it_); }

    // The first column of all rows, a line each; throws on errors.
    std::string sql(const std::string& text) {
        PGresult* const got = PQexec(it_, text.c_str());
        const auto status = PQresultStatus(got);
        std::string found;
        for (int row = 0; row < PQntuples(got); ++row) {
            found += (row == 0 ? "" : "\n") + std::string{PQgetvalue(got, row, 0)};
        }
        PQclear(got);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
            throw std::runtime_error(text + ": " + PQerrorMessage(it_));
        }
        return found;
    }

    [[nodiscard]] PGconn* native() { return it_; }

private:
    PGconn* const it_;
};

// A table prefix of its own for each test; what is there under it goes when it does.
class postgres_prefix {
public:
    postgres_prefix() {
        static std::atomic<int> made = 0;
        name_ = "t" + std::to_string(::getpid()) + "_" + std::to_string(++made) + "_";
    }
    postgres_prefix(const postgres_prefix&) = delete;
    postgres_prefix& operator=(const postgres_prefix&) = delete;
    ~postgres_prefix() {
        try {
            postgres_client client;
            client.sql("DROP TABLE IF EXISTS " + name_ + "meta, " + name_ + "record, " + name_ +
                       "checkpoint, " + name_ + "audit, " + name_ + "outbox, " + name_ +
                       "outbox_shard, " + name_ + "outbox_archive");
            client.sql("DROP DOMAIN IF EXISTS " + name_ + "key_lock");
        } catch (const std::exception&) {
            // The server is gone, and its data are the tests' own.
        }
    }

    [[nodiscard]] const std::string& name() const { return name_; }
    // As a store's URL.
    [[nodiscard]] std::string url() const { return postgres_url() + "?prefix=" + name_; }

private:
    std::string name_;
};

} // namespace semel::testing_support
