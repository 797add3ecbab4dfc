#include "databases/sqlite/client/errors.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <cerrno>

namespace semel::sqlite {
namespace {

struct row {
    const char* what;
    int code;
    int system;
    errc as;
    effect after_commit;
};

// Statements that fail are always undone; only a COMMIT can leave a doubt.
constexpr row rows[]{
    {"locked by another process", SQLITE_BUSY, 0, errc::timed_out, effect::none},
    {"log being recovered", SQLITE_BUSY_RECOVERY, 0, errc::timed_out, effect::none},
    {"read an older state", SQLITE_BUSY_SNAPSHOT, 0, errc::conflict, effect::none},
    {"locked by ourselves", SQLITE_LOCKED, 0, errc::conflict, effect::none},
    {"locking protocol", SQLITE_PROTOCOL, 0, errc::timed_out, effect::none},
    {"disk full", SQLITE_FULL, ENOSPC, errc::no_space, effect::none},
    {"read-only file", SQLITE_READONLY, 0, errc::read_only, effect::none},
    {"read-only folder", SQLITE_READONLY_DIRECTORY, 0, errc::read_only, effect::none},
    {"file moved away", SQLITE_READONLY_DBMOVED, 0, errc::unavailable, effect::unknown},
    {"access forbidden", SQLITE_PERM, 0, errc::read_only, effect::none},
    {"folder missing", SQLITE_CANTOPEN, ENOENT, errc::unavailable, effect::none},
    {"folder not writable", SQLITE_CANTOPEN, EACCES, errc::read_only, effect::none},
    {"file system not writable", SQLITE_CANTOPEN, EROFS, errc::read_only, effect::none},
    {"no room for a new file", SQLITE_CANTOPEN, ENOSPC, errc::no_space, effect::none},
    {"a folder", SQLITE_CANTOPEN, EISDIR, errc::not_a_store, effect::none},
    {"a folder, known as such", SQLITE_CANTOPEN_ISDIR, 0, errc::not_a_store, effect::none},
    {"not a database", SQLITE_NOTADB, 0, errc::not_a_store, effect::none},
    {"damaged file", SQLITE_CORRUPT, 0, errc::corrupt, effect::unknown},
    {"damaged index", SQLITE_CORRUPT_INDEX, 0, errc::corrupt, effect::unknown},
    {"out of memory", SQLITE_NOMEM, 0, errc::no_space, effect::unknown},
    {"out of memory in I/O", SQLITE_IOERR_NOMEM, 0, errc::no_space, effect::unknown},
    {"no room for the log's index", SQLITE_IOERR_SHMSIZE, 0, errc::no_space, effect::unknown},
    {"read error", SQLITE_IOERR_READ, EIO, errc::unavailable, effect::unknown},
    {"fsync error", SQLITE_IOERR_FSYNC, EIO, errc::unavailable, effect::unknown},
    {"interrupted", SQLITE_INTERRUPT, 0, errc::stopped, effect::none},
    {"tables changed", SQLITE_SCHEMA, 0, errc::conflict, effect::none},
    {"value too big", SQLITE_TOOBIG, 0, errc::limit_exceeded, effect::none},
    {"file system too small", SQLITE_NOLFS, 0, errc::no_space, effect::none},
    {"anything else", SQLITE_CONSTRAINT, 0, errc::internal, effect::unknown},
};

TEST(SqliteErrors, EveryNativeCodeHasItsFailure) {
    for (const auto& one : rows) {
        const native_error error{.code = one.code, .system = one.system, .message = "words"};

        EXPECT_EQ(failure_of(error, during::open).code, one.as) << one.what;
        EXPECT_EQ(failure_of(error, during::statement).code, one.as) << one.what;
        EXPECT_EQ(failure_of(error, during::commit).code, one.as) << one.what;
    }
}

TEST(SqliteErrors, OnlyACommitLeavesADoubt) {
    for (const auto& one : rows) {
        const native_error error{.code = one.code, .system = one.system, .message = "words"};

        EXPECT_EQ(failure_of(error, during::open).possible, effect::none) << one.what;
        EXPECT_EQ(failure_of(error, during::statement).possible, effect::none) << one.what;
        EXPECT_EQ(failure_of(error, during::commit).possible, one.after_commit) << one.what;
    }
}

TEST(SqliteErrors, TheDetailHasTheWordsTheCodeAndAnAdvice) {
    const auto why =
        failure_of({.code = SQLITE_FULL, .message = "disk is full"}, during::statement);

    EXPECT_EQ(why.detail, "sqlite: disk is full (code 13); free space on the disk; nothing was "
                          "stored and the store goes on when there is room");
}

} // namespace
} // namespace semel::sqlite
