#include "databases/sqlite/client/connection.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <thread>

#include "databases/sqlite/client/file.hpp"
#include "semel/base/result.hpp"

namespace semel::sqlite {

namespace {

// Larger than SQLite's 1,000: hot pages are then copied into the file once for many commits.
constexpr int checkpoint_pages = 4'000;
// What a log that once grew (a long reader held it) is cut back to.
constexpr int log_bytes_kept = 64 << 20;

} // namespace

void statement::finalizer::operator()(sqlite3_stmt* it) const {
    if (!home.left()) sqlite3_finalize(it);
}

// ---- query --------------------------------------------------------------------------------------

query::~query() {
    if (!of_.on_->home_.left()) sqlite3_reset(of_.it_.get());
}

query& query::bound(int code) {
    if (bind_error_ == SQLITE_OK) bind_error_ = code;
    return *this;
}

query& query::bind(int at, std::int64_t value) {
    return bound(sqlite3_bind_int64(of_.it_.get(), at, value));
}

query& query::bind(int at, std::string_view bytes) {
    // A null pointer would bind NULL.
    const char* const data = bytes.data() == nullptr ? "" : bytes.data();
    return bound(sqlite3_bind_blob64(of_.it_.get(), at, data, bytes.size(), SQLITE_STATIC));
}

query& query::bind_null(int at) {
    return bound(sqlite3_bind_null(of_.it_.get(), at));
}

result<query::step_result> query::step() {
    if (of_.on_->home_.left()) return opened_before_fork("sqlite: the connection");
    if (bind_error_ != SQLITE_OK) return of_.on_->fail(bind_error_, during::statement);
    const int code = sqlite3_step(of_.it_.get());
    if (code == SQLITE_ROW) return step_result::row;
    if (code == SQLITE_DONE) return step_result::done;
    return of_.on_->fail(code, during::statement);
}

result<std::int64_t> query::run() {
    auto stepped = step();
    if (!stepped) return std::move(stepped).error();
    return sqlite3_changes64(of_.on_->db_);
}

bool query::is_null(int column) const {
    return sqlite3_column_type(of_.it_.get(), column) == SQLITE_NULL;
}

std::int64_t query::integer(int column) const {
    return sqlite3_column_int64(of_.it_.get(), column);
}

std::string_view query::bytes(int column) const {
    const auto* data = static_cast<const char*>(sqlite3_column_blob(of_.it_.get(), column));
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(of_.it_.get(), column));
    return data == nullptr ? std::string_view{} : std::string_view{data, size};
}

// ---- connection ---------------------------------------------------------------------------------

result<std::unique_ptr<connection>> connection::open(const connection_options& options) {
    std::unique_ptr<connection> made{new connection{options}};
    const auto file = request_for(options.path, options.mode);
    if (!file) return file.error();
    if (auto own = check_not_inherited(options.path); !own) return std::move(own).error();
    made->file_ = open_file{options.path};
    const int code = sqlite3_open_v2(file->name.c_str(), &made->db_, file->flags, nullptr);
    if (code != SQLITE_OK) return made->cannot_open(code);
    sqlite3_busy_handler(made->db_, &connection::wait_for_lock, made.get());

    const bool looks = options.mode == open_mode::read_only;
    // SQLite opens what it may not write as read-only without a word.
    if (!looks && sqlite3_db_readonly(made->db_, "main") == 1) {
        return made->fail(SQLITE_READONLY, during::open);
    }
    // The file is looked at only now.
    auto looked = made->execute(std::string{looks ? "PRAGMA query_only=ON;" : ""} +
                                "SELECT count(*) FROM sqlite_schema");
    if (!looked) return std::move(looked).error();
    return made;
}

std::unique_ptr<connection> connection::borrow(sqlite3* handle) {
    std::unique_ptr<connection> made{new connection{{}}};
    made->db_ = handle;
    made->owned_ = false;
    return made;
}

connection::~connection() {
    begin_read_ = {};
    begin_write_ = {};
    commit_ = {};
    // Statements that are still alive keep the handle open until they are gone.
    if (owned_ && !home_.left()) sqlite3_close_v2(db_);
}

result<void> connection::make_ready() {
    if (options_.mode != open_mode::read_only) {
        if (auto durable = make_durable(); !durable) return durable;
    }
    const std::string cache = std::to_string(options_.cache_bytes >> 10);
    if (auto set = execute("PRAGMA cache_size=-" + cache); !set) return set;

    const std::string read = "BEGIN";
    const std::string write = "BEGIN IMMEDIATE";
    const std::string commit = "COMMIT";
    const prepared own[]{{begin_read_, read}, {begin_write_, write}, {commit_, commit}};
    return prepare_all(*this, own);
}

result<void> connection::make_durable() {
    if (auto switched = switch_to_wal(); !switched) return switched;
    return execute("PRAGMA synchronous=FULL; PRAGMA foreign_keys=OFF;"
                   "PRAGMA wal_autocheckpoint=" +
                   std::to_string(checkpoint_pages) +
                   ";"
                   "PRAGMA journal_size_limit=" +
                   std::to_string(log_bytes_kept));
}

// The switch needs the file for itself for a moment, and SQLite does not wait for that.
result<void> connection::switch_to_wal() {
    const local_time deadline = local_clock::now() + options_.lock_wait;
    auto pragma = prepare("PRAGMA journal_mode=WAL");
    if (!pragma) return std::move(pragma).error();
    while (true) {
        query ask{*pragma};
        auto stepped = ask.step();
        if (stepped) {
            if (ask.bytes(0) == "wal") return {};
            return failure{.code = errc::unsupported,
                           .possible = effect::none,
                           .detail = "sqlite: this file cannot use a write-ahead log; put it on a "
                                     "local disk"};
        }
        const bool busy = stepped.error().code == errc::timed_out;
        if (!busy || local_clock::now() >= deadline) return std::move(stepped).error();
        std::this_thread::sleep_for(std::chrono::milliseconds{1});
    }
}

result<statement> connection::prepare(std::string_view sql) {
    if (home_.left()) return opened_before_fork("sqlite: the connection");
    sqlite3_stmt* made = nullptr;
    const int code = sqlite3_prepare_v3(db_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &made, nullptr);
    if (code != SQLITE_OK) return fail(code, during::statement);
    return statement{*this, made};
}

result<void> connection::execute(const std::string& statements) {
    if (home_.left()) return opened_before_fork("sqlite: the connection");
    const int code = sqlite3_exec(db_, statements.c_str(), nullptr, nullptr, nullptr);
    if (code != SQLITE_OK) return fail(code, during::statement);
    return {};
}

result<void> connection::begin(access how) {
    if (home_.left()) return opened_before_fork("sqlite: the connection");
    SEMEL_ASSERT(sqlite3_get_autocommit(db_) != 0);
    failed_ = false;
    query run{how == access::write ? begin_write_ : begin_read_};
    auto begun = run.step();
    if (!begun) return std::move(begun).error();
    if (how == access::read) return {};
    auto in_place = check_in_place();
    if (!in_place) rollback();
    return in_place;
}

result<void> connection::check_in_place() {
    int moved = 0;
    const int code = sqlite3_file_control(db_, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    if (code != SQLITE_OK || moved == 0) return {};
    failure why = fail(SQLITE_READONLY_DBMOVED, during::statement);
    why.possible = effect::none;
    return why;
}

result<void> connection::commit() {
    query run{commit_};
    const int code = sqlite3_step(commit_.it_.get());
    if (code == SQLITE_DONE) return {};
    return fail(code, during::commit);
}

void connection::rollback() {
    // After some errors SQLite has rolled back by itself.
    if (sqlite3_get_autocommit(db_) == 0) sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
    SEMEL_ASSERT(sqlite3_get_autocommit(db_) != 0);
}

failure connection::fail(int code, during when) {
    failed_ = true;
    // The handle remembers the last error of its own; not every failure is one.
    const bool known = db_ != nullptr && (sqlite3_errcode(db_) & 0xff) == (code & 0xff);
    if (!known) return failure_of({.code = code, .message = sqlite3_errstr(code)}, when);
    return failure_of({.code = sqlite3_extended_errcode(db_),
                       .system = sqlite3_system_errno(db_),
                       .message = sqlite3_errmsg(db_)},
                      when);
}

// SQLite tries again for reading only, and then reports only that the file is missing.
failure connection::cannot_open(int code) {
    if (options_.mode == open_mode::read_only) {
        failure why = fail(code, during::open);
        if (why.code != errc::read_only) return why;
        return {.code = errc::unavailable,
                .possible = effect::none,
                .detail = "sqlite: '" + options_.path +
                          "' cannot be read; make the file readable for this user"};
    }
    const auto folder = std::filesystem::absolute(options_.path).parent_path();
    const bool refused = (code & 0xff) == SQLITE_CANTOPEN && ::access(folder.c_str(), W_OK) != 0;
    if (!refused) return fail(code, during::open);
    return failure_of({.code = code, .system = errno, .message = sqlite3_errmsg(db_)},
                      during::open);
}

// Called by SQLite while another connection holds the lock it needs.
int connection::wait_for_lock(void* self, int tries) {
    auto& me = *static_cast<connection*>(self);
    const local_time now = local_clock::now();
    if (tries == 0) me.lock_deadline_ = now + me.options_.lock_wait;
    if (now >= me.lock_deadline_) return 0;
    // Short at first: most holders are in the middle of one commit.
    const duration pause = std::chrono::microseconds{100} * std::min(1 << std::min(tries, 5), 20);
    std::this_thread::sleep_for(std::min(pause, me.lock_deadline_ - now));
    return 1;
}

result<void> prepare_all(connection& on, std::span<const prepared> all) {
    for (const auto& one : all) {
        auto made = on.prepare(one.sql);
        if (!made) return std::move(made).error();
        one.where = *std::move(made);
    }
    return {};
}

} // namespace semel::sqlite
