// A MariaDB or MySQL server for tests, and SQL behind the store's back.
#pragma once

#include <mysql.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace semel::testing_support {

enum class mysql_kind { mariadb, mysql };

// For the binaries that run the same cases on each of them: what is meant where none is named.
extern const mysql_kind tested_mysql;

// As tools/servers calls it.
inline const char* name_of(mysql_kind kind) {
    return kind == mysql_kind::mariadb ? "mariadb" : "mysql";
}

// Throws, and so fails the test, where there is no server.
inline std::string mysql_url(mysql_kind of = tested_mysql) {
    const char* const setting =
        of == mysql_kind::mariadb ? "SEMEL_TEST_MARIADB" : "SEMEL_TEST_MYSQL";
    const char* const url = std::getenv(setting);
    if (url == nullptr) {
        throw std::runtime_error(std::string{setting} +
                                 " is not set: ./test starts the servers; `tools/servers start " +
                                 name_of(of) + "` says why it cannot");
    }
    return url;
}

// The port of a URL that tools/servers has made.
inline int mysql_port(mysql_kind of = tested_mysql) {
    const std::string url = mysql_url(of);
    return std::stoi(url.substr(url.rfind(':') + 1));
}

// How that server calls it.
inline std::string isolation_variable() {
    return tested_mysql == mysql_kind::mariadb ? "tx_isolation" : "transaction_isolation";
}

// A connection of the test's own.
class mysql_client {
public:
    explicit mysql_client(mysql_kind of = tested_mysql) : mysql_client(mysql_port(of)) {}
    explicit mysql_client(int port, const char* user = "semel", const char* password = "semel")
        : it_(mysql_init(nullptr)) {
        if (mysql_real_connect(it_, "127.0.0.1", user, password, "semel",
                               static_cast<unsigned>(port), nullptr, 0) == nullptr) {
            const std::string words = mysql_error(it_);
            mysql_close(it_);
            throw std::runtime_error(words);
        }
    }
    mysql_client(const mysql_client&) = delete;
    mysql_client& operator=(const mysql_client&) = delete;
    ~mysql_client() { mysql_close(it_); }

    // The first column of all rows, a line each; throws on errors.
    std::string sql(const std::string& text) {
        if (mysql_real_query(it_, text.data(), text.size()) != 0) complain(text);
        MYSQL_RES* const got = mysql_store_result(it_);
        if (got == nullptr) {
            if (mysql_errno(it_) != 0) complain(text);
            return {};
        }
        std::string found;
        while (MYSQL_ROW row = mysql_fetch_row(got)) {
            if (!found.empty()) found += '\n';
            if (row[0] != nullptr) found += std::string{row[0], mysql_fetch_lengths(got)[0]};
        }
        mysql_free_result(got);
        return found;
    }

    // Several statements at once, whose rows nobody wants.
    void sql_all(const std::string& text) {
        mysql_set_server_option(it_, MYSQL_OPTION_MULTI_STATEMENTS_ON);
        int next = mysql_real_query(it_, text.data(), text.size());
        while (next == 0) {
            mysql_free_result(mysql_store_result(it_));
            next = mysql_next_result(it_);
        }
        if (next > 0) complain(text);
        mysql_set_server_option(it_, MYSQL_OPTION_MULTI_STATEMENTS_OFF);
    }

    [[nodiscard]] MYSQL* native() { return it_; }
    [[nodiscard]] unsigned error() const { return mysql_errno(it_); }

private:
    void complain(const std::string& text) {
        throw std::runtime_error(text + ": " + mysql_error(it_));
    }

    MYSQL* const it_;
};

// A table of 10^digits rows, whose column `seq` counts from 1.
inline std::string mysql_numbers(int digits) {
    std::string sum = "1";
    std::string from;
    for (int i = 0; i < digits; ++i) {
        const std::string alias = "d" + std::to_string(i);
        sum += "+" + alias + ".n*1" + std::string(static_cast<std::size_t>(i), '0');
        from += (i == 0 ? "" : ",") + std::string{"(SELECT 0 AS n"};
        for (int n = 1; n < 10; ++n) from += " UNION ALL SELECT " + std::to_string(n);
        from += ") " + alias;
    }
    return "(SELECT " + sum + " AS seq FROM " + from + ") numbers";
}

// A table prefix of its own for each test; its tables go when it does.
class mysql_prefix {
public:
    explicit mysql_prefix(mysql_kind of = tested_mysql) : of_(of) {
        static std::atomic<int> made = 0;
        name_ = "t" + std::to_string(::getpid()) + "_" + std::to_string(++made) + "_";
    }
    mysql_prefix(const mysql_prefix&) = delete;
    mysql_prefix& operator=(const mysql_prefix&) = delete;
    ~mysql_prefix() {
        try {
            mysql_client{of_}.sql("DROP TABLE IF EXISTS " + name_ + "meta, " + name_ + "record, " +
                                  name_ + "checkpoint, " + name_ + "audit, " + name_ + "outbox, " +
                                  name_ + "outbox_shard, " + name_ + "outbox_archive");
        } catch (const std::exception&) {
            // The server is gone, and its data are the tests' own.
        }
    }

    [[nodiscard]] const std::string& name() const { return name_; }
    // As a store's URL.
    [[nodiscard]] std::string url() const { return mysql_url(of_) + "?prefix=" + name_; }

private:
    const mysql_kind of_;
    std::string name_;
};

} // namespace semel::testing_support
