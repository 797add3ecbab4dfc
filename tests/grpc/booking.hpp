// A service that books each charge as a row, in one transaction with its record.
#pragma once

#include <filesystem>
#include <functional>
#include <mutex>
#include <sqlite3.h>
#include <stdlib.h>
#include <string>

#include "payments.hpp"
#include "semel/databases/sqlite/transaction.hpp"
#include "semel/engine.hpp"
#include "semel/grpc/guard.hpp"

namespace semel::grpc_test {

inline grpc::guard_options acme() {
    return {.tenants = http::single_tenant{"acme"}};
}

inline grpc::protected_method charge_method_with(grpc::method_policy how = {}) {
    return grpc::protected_method::make("semel.test.Payments/Charge", std::move(how)).value();
}

// A folder for one test.
class scratch_database {
public:
    scratch_database() {
        std::string name = std::filesystem::temp_directory_path() / "semel-grpc-XXXXXX";
        folder_ = mkdtemp(name.data());
    }
    ~scratch_database() { std::filesystem::remove_all(folder_); }
    scratch_database(const scratch_database&) = delete;
    scratch_database& operator=(const scratch_database&) = delete;

    [[nodiscard]] std::string file() const { return folder_ / "records.db"; }
    [[nodiscard]] std::string flag() const { return folder_ / "crashed"; }

private:
    std::filesystem::path folder_;
};

class sqlite_file {
public:
    explicit sqlite_file(const std::string& name) {
        sqlite3_open(name.c_str(), &db_);
        sqlite3_busy_timeout(db_, 10'000);
    }
    sqlite_file(const sqlite_file&) = delete;
    sqlite_file& operator=(const sqlite_file&) = delete;
    ~sqlite_file() { sqlite3_close(db_); }

    void run(const char* sql) { sqlite3_exec(db_, sql, nullptr, nullptr, nullptr); }
    // -1: no answer.
    [[nodiscard]] int number(const char* sql) {
        int found = -1;
        const auto read = [](void* to, int, char** values, char**) {
            *static_cast<int*>(to) = std::stoi(values[0]);
            return 0;
        };
        sqlite3_exec(db_, sql, read, &found, nullptr);
        return found;
    }
    [[nodiscard]] sqlite3* get() { return db_; }

private:
    sqlite3* db_ = nullptr;
};

inline int rows_booked(const std::string& file) {
    return sqlite_file{file}.number("SELECT count(*) FROM booked");
}

class booking final : public Payments::Service {
public:
    // `then` runs after the row is written, inside the transaction, and has the last word.
    booking(semel::engine& engine, const std::string& file, std::function<Status()> then)
        : guard_(engine, acme()), then_(std::move(then)), db_(file) {
        db_.run("CREATE TABLE IF NOT EXISTS booked (amount INTEGER)");
    }

    Status Charge(::grpc::ServerContext* context, const ChargeRequest* request,
                  ChargeReply* reply) override {
        const std::lock_guard lock{mutex_};
        return guard_.transact(sqlite_transaction{db_.get()}, *context, method_, *request, *reply,
                               [&](execution*) {
                                   db_.run("INSERT INTO booked VALUES (1)");
                                   reply->set_number(db_.number("SELECT count(*) FROM booked"));
                                   return then_();
                               });
    }

private:
    const grpc::guard guard_;
    const grpc::protected_method method_ = charge_method_with();
    const std::function<Status()> then_;
    std::mutex mutex_;
    sqlite_file db_; // guarded by mutex_
};

} // namespace semel::grpc_test
