// SQLite as the database that tests/stores/sql is compiled for: a file for each test.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "semel/databases/sqlite.hpp"
#include "semel/databases/sqlite/transaction.hpp"
#include "semel/engine.hpp"
#include "semel/open.hpp"
#include "support/store_words.hpp"

namespace semel {

// The folder of the test that runs.
inline std::string& database_folder() {
    static std::string it;
    return it;
}
inline std::string database_file() {
    return database_folder() + "/records.db";
}

// A connection of the application.
class database_client {
public:
    database_client() : database_client(database_file()) {}
    explicit database_client(const std::string& file) {
        EXPECT_EQ(sqlite3_open(file.c_str(), &it_), SQLITE_OK);
        sqlite3_busy_timeout(it_, 5'000);
    }
    database_client(const database_client&) = delete;
    database_client& operator=(const database_client&) = delete;
    ~database_client() { EXPECT_EQ(sqlite3_close(it_), SQLITE_OK); }

    // The first column of the first row. Throws what is wrong.
    std::string sql(const std::string& text) {
        std::string first;
        char* error = nullptr;
        sqlite3_exec(it_, text.c_str(), &keep_first, &first, &error);
        if (error == nullptr) return first;
        const std::runtime_error why{text + ": " + error};
        sqlite3_free(error);
        throw why;
    }
    [[nodiscard]] sqlite3* native() const { return it_; }

private:
    static int keep_first(void* to, int, char** values, char**) {
        auto& first = *static_cast<std::string*>(to);
        if (first.empty() && values[0] != nullptr) first = values[0];
        return 0;
    }
    sqlite3* it_ = nullptr;
};

// Further tables in the same file.
class database_prefix {
public:
    [[nodiscard]] std::string name() const { return "second_"; }
    [[nodiscard]] std::string url() const {
        return "sqlite:" + database_file() + "?prefix=" + name();
    }
};

using database_transaction = sqlite_transaction;
using database_engine = engine;

inline bool is_in_transaction(database_client& client) {
    return sqlite3_get_autocommit(client.native()) == 0;
}
// Records keep bytes.
inline std::string as_text(const std::string& column) {
    return "CAST(" + column + " AS TEXT)";
}
// How else work may end its transaction and begin another.
inline const std::initializer_list<const char*> further_tricks{
    "ROLLBACK; BEGIN IMMEDIATE", "COMMIT; BEGIN IMMEDIATE",
    "ROLLBACK; BEGIN; SAVEPOINT semel_1; SAVEPOINT semel_2"};

class database_test : public testing::Test {
protected:
    database_test() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        database_folder() = ::mkdtemp(name.data());
        open().reset();
    }
    ~database_test() override { std::filesystem::remove_all(database_folder()); }

    [[nodiscard]] static std::string folder() { return database_folder(); }
    [[nodiscard]] static std::string prefix() { return "own_"; }
    [[nodiscard]] static std::string record_table() { return prefix() + "record"; }
    [[nodiscard]] static std::unique_ptr<store> open() {
        return open_sqlite_store({.path = database_file(), .table_prefix = prefix()}).value();
    }
    // On a connection of its own.
    static std::string sql(const std::string& text) { return database_client{}.sql(text); }
};

} // namespace semel
