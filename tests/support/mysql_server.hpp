// A MariaDB server for tests, and SQL behind the store's back.
#pragma once

#include <mysql.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace semel::testing_support {

// Throws, and so fails the test, where there is no server.
inline std::string mysql_url() {
    const char* const url = std::getenv("SEMEL_TEST_MYSQL");
    if (url == nullptr) {
        throw std::runtime_error("SEMEL_TEST_MYSQL is not set: `./test stores` and `./test "
                                 "conformance` start the servers, or use `tools/servers run`");
    }
    return url;
}

// The port of a URL that tools/servers has made.
inline int mysql_port(const std::string& url = mysql_url()) {
    return std::stoi(url.substr(url.rfind(':') + 1));
}

// A connection of the test's own.
class mysql_client {
public:
    explicit mysql_client(int port = mysql_port(), const char* user = "semel",
                          const char* password = "semel")
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

// A table prefix of its own for each test; its tables go when it does.
class mysql_prefix {
public:
    mysql_prefix() {
        static std::atomic<int> made = 0;
        name_ = "t" + std::to_string(::getpid()) + "_" + std::to_string(++made) + "_";
    }
    mysql_prefix(const mysql_prefix&) = delete;
    mysql_prefix& operator=(const mysql_prefix&) = delete;
    ~mysql_prefix() {
        try {
            mysql_client{}.sql("DROP TABLE IF EXISTS " + name_ + "meta, " + name_ + "record, " +
                               name_ + "checkpoint, " + name_ + "audit, " + name_ + "outbox, " +
                               name_ + "outbox_shard, " + name_ + "outbox_archive");
        } catch (const std::exception&) {
            // The server is gone, and its data are the tests' own.
        }
    }

    [[nodiscard]] const std::string& name() const { return name_; }
    // As a store's URL.
    [[nodiscard]] std::string url() const { return mysql_url() + "?prefix=" + name_; }

private:
    std::string name_;
};

} // namespace semel::testing_support
