#include "databases/sqlite/client/errors.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <string>

namespace semel::sqlite {

namespace {

struct meaning {
    int code; // extended or primary; the extended ones come first
    errc as;
    effect after_commit; // what a failed COMMIT with this code leaves behind
    std::string_view advice;
};

constexpr meaning meanings[]{
    {SQLITE_READONLY_DBMOVED, errc::unavailable, effect::unknown,
     "the file was moved or deleted while it was open; put it back or open it again"},
    {SQLITE_CANTOPEN_ISDIR, errc::not_a_store, effect::none,
     "the path is a folder; name a file in it"},
    {SQLITE_BUSY_SNAPSHOT, errc::conflict, effect::none,
     "another connection wrote since this transaction began to read; roll back and start it with "
     "BEGIN IMMEDIATE"},
    {SQLITE_IOERR_NOMEM, errc::no_space, effect::unknown, "out of memory"},
    {SQLITE_IOERR_SHMSIZE, errc::no_space, effect::unknown, "free space on the disk"},

    {SQLITE_BUSY, errc::timed_out, effect::none,
     "another connection kept the file locked; end long transactions, or raise lock_wait"},
    {SQLITE_LOCKED, errc::conflict, effect::none, "the same connection is in use elsewhere"},
    {SQLITE_PROTOCOL, errc::timed_out, effect::none, "too many processes open the file at once"},
    // The log lacks its last frame: recovery drops the transaction.
    {SQLITE_FULL, errc::no_space, effect::none,
     "free space on the disk; nothing was stored and the store goes on when there is room"},
    {SQLITE_READONLY, errc::read_only, effect::none,
     "make the file and its folder writable for this user"},
    {SQLITE_PERM, errc::read_only, effect::none,
     "make the file and its folder writable for this user"},
    {SQLITE_CANTOPEN, errc::unavailable, effect::none,
     "check that the folder exists and may be entered"},
    {SQLITE_NOTADB, errc::not_a_store, effect::none,
     "the file is not an SQLite database (or is encrypted); name another one"},
    {SQLITE_CORRUPT, errc::corrupt, effect::unknown,
     "the file is damaged; restore a backup, or try `sqlite3 file .recover`"},
    {SQLITE_NOMEM, errc::no_space, effect::unknown, "out of memory"},
    {SQLITE_IOERR, errc::unavailable, effect::unknown, "check the disk and the system's log"},
    {SQLITE_INTERRUPT, errc::stopped, effect::none, "the statement was interrupted"},
    {SQLITE_SCHEMA, errc::conflict, effect::none, "the tables are being changed; try again"},
    {SQLITE_TOOBIG, errc::limit_exceeded, effect::none, "the value is too large for SQLite"},
    {SQLITE_NOLFS, errc::no_space, effect::none, "the file system cannot hold larger files"},
};

constexpr meaning nameless{SQLITE_ERROR, errc::internal, effect::unknown, ""};

const meaning& meaning_of(int code) {
    for (const auto& one : meanings) {
        if (one.code == code) return one;
    }
    for (const auto& one : meanings) {
        if (one.code == (code & 0xff)) return one;
    }
    return nameless;
}

// SQLite reports "unable to open" for every error of open(2).
int refined(const native_error& error) {
    if ((error.code & 0xff) != SQLITE_CANTOPEN) return error.code;
    switch (error.system) {
    case EACCES:
    case EPERM:
    case EROFS: return SQLITE_READONLY;
    case EISDIR: return SQLITE_CANTOPEN_ISDIR;
    case ENOSPC:
    case EDQUOT: return SQLITE_FULL;
    default: return error.code;
    }
}

} // namespace

failure failure_of(const native_error& error, during when) {
    const meaning& what = meaning_of(refined(error));
    std::string detail =
        "sqlite: " + std::string{error.message} + " (code " + std::to_string(error.code) + ")";
    if (!what.advice.empty()) detail += "; " + std::string{what.advice};
    return {.code = what.as,
            .possible = when == during::commit ? what.after_commit : effect::none,
            .detail = std::move(detail)};
}

} // namespace semel::sqlite
