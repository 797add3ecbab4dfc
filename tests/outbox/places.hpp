// The databases as places for an outbox: tables of its own for each test, appends in real
// transactions, and SQL behind the relay's back.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "semel/databases/mysql/outbox.hpp"
#include "semel/databases/postgres/outbox.hpp"
#include "semel/databases/sqlite/outbox.hpp"
#include "semel/open.hpp"
#include "semel/outbox.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/relay.hpp"
#include "semel/outbox/table.hpp"
#include "support/mysql_server.hpp"
#include "support/postgres_server.hpp"

namespace semel::outbox {

class place {
public:
    virtual ~place() = default;
    [[nodiscard]] virtual std::string url() const = 0;
    [[nodiscard]] virtual std::string prefix() const = 0;
    // The first column of all rows, a line each.
    virtual std::string sql(const std::string& text) = 0;
    // On the connection of sql().
    virtual writer& tx() = 0;
    virtual const char* begin_text() { return "BEGIN"; }
    // From its hexadecimal digits.
    virtual std::string owner_text(const std::string& digits) { return "x'" + digits + "'"; }

    [[nodiscard]] std::string table_name() const { return prefix() + "outbox"; }
    [[nodiscard]] std::unique_ptr<table> open(table_options options = {}) const {
        return open_table(url(), options).value();
    }
    [[nodiscard]] table_opener opener(table_options options = {}) const {
        return [at = url(), options] { return open_table(at, options); };
    }

    std::vector<std::string> append(std::vector<event> all, const append_options& options = {}) {
        sql(begin_text());
        auto ids = appender{options}.append(tx(), std::move(all)).value();
        sql("COMMIT");
        return ids;
    }
    // `count` events of so many keys, numbered from `first` in their payloads.
    std::vector<std::string> fill(int count, int keys = 50, int first = 0, int shards = 16) {
        std::vector<event> all;
        for (int i = first; i < first + count; ++i) {
            all.push_back({.topic = "orders",
                           .key = "key-" + std::to_string(i % keys),
                           .payload = std::to_string(i)});
        }
        return append(std::move(all), {.shards = shards});
    }
    std::string count(const std::string& where = "1 = 1") {
        return sql("SELECT count(*) FROM " + table_name() + " WHERE " + where);
    }
};

class postgres_place final : public place {
public:
    postgres_place() { migrate(url(), migrate_mode::run).value(); }
    // Without TLS: these tests connect often.
    [[nodiscard]] std::string url() const override {
        return prefix_.url() + "&sslmode=disable&gssencmode=disable";
    }
    [[nodiscard]] std::string prefix() const override { return prefix_.name(); }
    std::string sql(const std::string& text) override { return client_.sql(text); }
    writer& tx() override { return writer_; }
    std::string owner_text(const std::string& digits) override { return "'" + digits + "'"; }

private:
    const testing_support::postgres_prefix prefix_;
    testing_support::postgres_client client_;
    postgres_writer writer_{client_.native(), prefix_.name()};
};

class mysql_place final : public place {
public:
    explicit mysql_place(testing_support::mysql_kind of) : prefix_(of), client_(of) {
        migrate(url(), migrate_mode::run).value();
    }
    [[nodiscard]] std::string url() const override { return prefix_.url(); }
    [[nodiscard]] std::string prefix() const override { return prefix_.name(); }
    std::string sql(const std::string& text) override { return client_.sql(text); }
    writer& tx() override { return writer_; }

private:
    const testing_support::mysql_prefix prefix_;
    testing_support::mysql_client client_;
    mysql_writer writer_{client_.native(), prefix_.name()};
};

class sqlite_place final : public place {
public:
    sqlite_place() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        migrate(url(), migrate_mode::run).value();
        sqlite3_open((folder_ + "/shop.db").c_str(), &db_);
        sqlite3_busy_timeout(db_, 10'000);
        writer_ = std::make_unique<sqlite_writer>(db_);
    }
    ~sqlite_place() override {
        sqlite3_close(db_);
        std::filesystem::remove_all(folder_);
    }
    [[nodiscard]] std::string url() const override { return "sqlite:" + folder_ + "/shop.db"; }
    [[nodiscard]] std::string prefix() const override { return "semel_"; }
    std::string sql(const std::string& text) override {
        std::string found;
        const auto keep = [](void* to, int, char** values, char**) {
            auto& made = *static_cast<std::string*>(to);
            made += (made.empty() ? "" : "\n") + std::string{values[0] ? values[0] : ""};
            return 0;
        };
        if (sqlite3_exec(db_, text.c_str(), keep, &found, nullptr) != SQLITE_OK) {
            throw std::runtime_error(text + ": " + sqlite3_errmsg(db_));
        }
        return found;
    }
    writer& tx() override { return *writer_; }
    const char* begin_text() override { return "BEGIN IMMEDIATE"; }

private:
    std::string folder_;
    sqlite3* db_ = nullptr;
    std::unique_ptr<sqlite_writer> writer_;
};

// Of a test that is for the two of them alone.
inline std::string name_of_server(const testing::TestParamInfo<testing_support::mysql_kind>& of) {
    return testing_support::name_of(of.param);
}

inline std::unique_ptr<place> make_place(const std::string& kind) {
    using testing_support::mysql_kind;
    if (kind == "postgres") return std::make_unique<postgres_place>();
    if (kind == "mariadb") return std::make_unique<mysql_place>(mysql_kind::mariadb);
    if (kind == "mysql") return std::make_unique<mysql_place>(mysql_kind::mysql);
    return std::make_unique<sqlite_place>();
}

} // namespace semel::outbox
