// sqlite3* and sqlite3_stmt* with owners, errors as values, and a bounded wait for locks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/home_process.hpp"
#include "databases/sqlite/client/errors.hpp"
#include "databases/sqlite/client/open_files.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/store.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace semel::sqlite {

class connection;

// A prepared statement. It belongs to its connection and must not outlive it.
class statement {
public:
    statement() = default;
    statement(connection& on, sqlite3_stmt* it) : on_(&on), it_(it) {}

private:
    friend class query;
    friend class connection;
    struct finalizer {
        home_process home;
        void operator()(sqlite3_stmt* it) const;
    };

    connection* on_ = nullptr;
    std::unique_ptr<sqlite3_stmt, finalizer> it_;
};

// One run of a statement; it is reset when this goes out of scope. Bound bytes must live until
// then. Parameters count from 1, columns from 0.
class query {
public:
    explicit query(statement& of) : of_(of) {}
    query(const query&) = delete;
    query& operator=(const query&) = delete;
    ~query();

    query& bind(int at, std::int64_t value);
    query& bind(int at, std::string_view bytes);
    query& bind_null(int at);
    query& bind(int at, time_point when) { return bind(at, when.time_since_epoch().count()); }

    enum class step_result { row, done };
    [[nodiscard]] result<step_result> step();
    // For statements without rows: how many rows they changed.
    [[nodiscard]] result<std::int64_t> run();

    [[nodiscard]] bool is_null(int column) const;
    [[nodiscard]] std::int64_t integer(int column) const;
    [[nodiscard]] std::string_view bytes(int column) const; // until the next step
    [[nodiscard]] time_point time(int column) const {
        return time_point{duration{integer(column)}};
    }

private:
    query& bound(int code);

    statement& of_;
    int bind_error_ = 0;
};

struct connection_options {
    std::string path;
    duration lock_wait = {};
    std::size_t cache_bytes = 0;
    open_mode mode = open_mode::create;
};

enum class access { read, write };

// One thread at a time. In a forked child the connection does nothing and stays open, because
// SQLite forbids closing it there.
class connection {
public:
    // Opens the file as the mode says, and checks that it can be read, and written if the mode
    // needs that. Changes nothing in the file.
    static result<std::unique_ptr<connection>> open(const connection_options& options);

    // On a caller's handle. Its settings are left alone, and the caller closes it later.
    static std::unique_ptr<connection> borrow(sqlite3* handle);

    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection();

    // What transactions need: the cache size for this connection and, unless it is read-only,
    // write-ahead logging for the file and synchronous=FULL.
    [[nodiscard]] result<void> make_ready();

    [[nodiscard]] result<statement> prepare(std::string_view sql);
    [[nodiscard]] result<void> execute(const std::string& statements);

    // A write transaction locks out other writers at once, and is not begun on a file that its path
    // no longer names.
    [[nodiscard]] result<void> begin(access how);
    // Checks that the path still names the open file. Otherwise a program that opens the path gets
    // another file, in which the same keys are executed again, while SQLite goes on writing to the
    // old file.
    [[nodiscard]] result<void> check_in_place();
    [[nodiscard]] result<void> commit();
    void rollback();

    // Whether a statement has failed since begin(). SQLite may then have left the transaction by
    // itself, so nothing further must run in it.
    [[nodiscard]] bool failed() const { return failed_; }

    [[nodiscard]] sqlite3* native() { return db_; }

private:
    friend class query;
    explicit connection(const connection_options& options) : options_(options) {}

    static int wait_for_lock(void* self, int tries);
    [[nodiscard]] result<void> make_durable();
    [[nodiscard]] result<void> switch_to_wal();
    [[nodiscard]] failure fail(int code, during when);
    [[nodiscard]] failure cannot_open(int code);

    const home_process home_;
    const connection_options options_;
    open_file file_; // longer than the handle
    sqlite3* db_ = nullptr;
    bool owned_ = true;
    statement begin_read_;
    statement begin_write_;
    statement commit_;
    local_time lock_deadline_ = {};
    bool failed_ = false;
};

// A statement to be, and its text.
struct prepared {
    statement& where;
    const std::string& sql;
};

[[nodiscard]] result<void> prepare_all(connection& on, std::span<const prepared> all);

} // namespace semel::sqlite
