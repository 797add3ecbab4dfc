#include "databases/sqlite/client/file.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

namespace semel::sqlite {

namespace {

constexpr int always = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;

bool may_write(const std::string& path) {
    return ::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) == 0;
}

bool is_missing(const std::string& path) {
    return ::access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

bool has_content(const std::string& path) {
    struct stat about {};
    return ::stat(path.c_str(), &about) == 0 && about.st_size > 0;
}

// SQLite takes a leading "file:" for a URI, with options of its own.
std::string plain(const std::string& path) {
    return path.starts_with("file:") ? "./" + path : path;
}

// SQLite gives a new file the mode that the umask leaves, perhaps readable by all users, and the
// log beside it the mode of the file. The file is made without opening it: closing it would give up
// the locks of this process's other connections.
void make_for_owner(const std::string& path) {
    if (path == ":memory:") return;
    static_cast<void>(::mknod(path.c_str(), S_IFREG | S_IRUSR | S_IWUSR, 0));
}

std::string encoded(const std::string& path) {
    std::string made;
    for (const char one : path) {
        switch (one) {
        case '%': made += "%25"; break;
        case '?': made += "%3f"; break;
        case '#': made += "%23"; break;
        default: made += one;
        }
    }
    return made;
}

// SQLite takes no locks and looks for no log.
file_request as_immutable(const std::string& path) {
    const std::string whole = std::filesystem::absolute(path).string();
    return {.name = "file://" + encoded(whole) + "?immutable=1",
            .flags = always | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI};
}

// A file in write-ahead mode is read through its log and the index of that, which SQLite makes
// where they are missing.
result<file_request> request_to_look(const std::string& path) {
    const auto folder = std::filesystem::absolute(path).parent_path();
    if (may_write(path) && may_write(folder)) {
        return file_request{.name = plain(path), .flags = always | SQLITE_OPEN_READWRITE};
    }
    const bool in_use = !is_missing(path + "-wal") && !is_missing(path + "-shm");
    // Without a log there may be a rollback journal, which SQLite does not pass over.
    if (in_use || has_content(path + "-journal")) {
        return file_request{.name = plain(path), .flags = always | SQLITE_OPEN_READONLY};
    }
    if (!has_content(path + "-wal")) return as_immutable(path);
    return failure{.code = errc::read_only,
                   .possible = effect::none,
                   .detail = "sqlite: '" + path +
                             "-wal' holds records that are not in the file yet, and cannot be read "
                             "in a folder that is not writable; copy both files to another folder, "
                             "and look there"};
}

} // namespace

result<file_request> request_for(const std::string& path, open_mode mode) {
    if (mode == open_mode::create) {
        make_for_owner(plain(path));
        return file_request{.name = plain(path),
                            .flags = always | SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE};
    }
    if (is_missing(path)) {
        return failure{.code = errc::schema_missing,
                       .possible = effect::none,
                       .detail = "sqlite: there is no database at '" + path +
                                 "'; check the path, or make one: `semel migrate --store sqlite:" +
                                 path + "`"};
    }
    if (mode == open_mode::read_only) return request_to_look(path);
    return file_request{.name = plain(path), .flags = always | SQLITE_OPEN_READWRITE};
}

} // namespace semel::sqlite
