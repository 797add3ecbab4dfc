// A disk that counts its syncs and can be told to be full or broken. It becomes SQLite's default
// for as long as the object lives.
#pragma once

#include <sqlite3.h>

#include <atomic>
#include <string>

namespace semel {

class fault_vfs {
public:
    fault_vfs();
    ~fault_vfs();
    fault_vfs(const fault_vfs&) = delete;
    fault_vfs& operator=(const fault_vfs&) = delete;

    struct switches {
        std::atomic<int> syncs = 0;           // so far
        std::atomic<int> writes = 0;          // so far
        std::atomic<bool> full = false;       // writes fail with SQLITE_FULL
        std::atomic<bool> sync_fails = false; // syncs fail with SQLITE_IOERR_FSYNC
        std::atomic<bool> hasty = false;      // syncs are counted and not done
    };

    switches set;

private:
    static int open(sqlite3_vfs* self, const char* name, sqlite3_file* file, int flags, int* out);

    sqlite3_vfs* const real_;
    sqlite3_vfs own_;
};

} // namespace semel
