#include "fault_vfs.hpp"

#include <new>

namespace semel {

namespace {

// Lies at the start of the memory SQLite reserves for a file; the real file comes behind it.
struct faulty_file {
    sqlite3_file base;
    fault_vfs::switches* set;
    sqlite3_io_methods methods;

    [[nodiscard]] sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

faulty_file* mine(sqlite3_file* file) {
    return reinterpret_cast<faulty_file*>(file);
}

// A method that passes its arguments to the real file.
template <auto Method, class... Args> int forward(sqlite3_file* file, Args... args) {
    sqlite3_file* const real = mine(file)->real();
    return (real->pMethods->*Method)(real, args...);
}

int close(sqlite3_file* file) {
    const int code = forward<&sqlite3_io_methods::xClose>(file);
    file->pMethods = nullptr;
    return code;
}

int write(sqlite3_file* file, const void* data, int bytes, sqlite3_int64 offset) {
    mine(file)->set->writes++;
    if (mine(file)->set->full) return SQLITE_FULL;
    return forward<&sqlite3_io_methods::xWrite>(file, data, bytes, offset);
}

int sync(sqlite3_file* file, int flags) {
    mine(file)->set->syncs++;
    if (mine(file)->set->sync_fails) return SQLITE_IOERR_FSYNC;
    if (mine(file)->set->hasty) return SQLITE_OK;
    return forward<&sqlite3_io_methods::xSync>(file, flags);
}

void barrier(sqlite3_file* file) {
    sqlite3_file* const real = mine(file)->real();
    real->pMethods->xShmBarrier(real);
}

sqlite3_io_methods methods() {
    using io = sqlite3_io_methods;
    sqlite3_io_methods made{};
    made.iVersion = 2; // no memory mapping
    made.xClose = &close;
    made.xRead = &forward<&io::xRead, void*, int, sqlite3_int64>;
    made.xWrite = &write;
    made.xTruncate = &forward<&io::xTruncate, sqlite3_int64>;
    made.xSync = &sync;
    made.xFileSize = &forward<&io::xFileSize, sqlite3_int64*>;
    made.xLock = &forward<&io::xLock, int>;
    made.xUnlock = &forward<&io::xUnlock, int>;
    made.xCheckReservedLock = &forward<&io::xCheckReservedLock, int*>;
    made.xFileControl = &forward<&io::xFileControl, int, void*>;
    made.xSectorSize = &forward<&io::xSectorSize>;
    made.xDeviceCharacteristics = &forward<&io::xDeviceCharacteristics>;
    made.xShmMap = &forward<&io::xShmMap, int, int, int, void volatile**>;
    made.xShmLock = &forward<&io::xShmLock, int, int, int>;
    made.xShmBarrier = &barrier;
    made.xShmUnmap = &forward<&io::xShmUnmap, int>;
    return made;
}

} // namespace

fault_vfs::fault_vfs() : real_(sqlite3_vfs_find(nullptr)), own_(*real_) {
    own_.zName = "semel-fault";
    own_.szOsFile = static_cast<int>(sizeof(faulty_file)) + real_->szOsFile;
    own_.pAppData = this;
    own_.xOpen = &fault_vfs::open;
    sqlite3_vfs_register(&own_, 1);
}

fault_vfs::~fault_vfs() {
    sqlite3_vfs_unregister(&own_);
    sqlite3_vfs_register(real_, 1);
}

int fault_vfs::open(sqlite3_vfs* self, const char* name, sqlite3_file* file, int flags, int* out) {
    auto& me = *static_cast<fault_vfs*>(self->pAppData);
    auto* const made = ::new (static_cast<void*>(file)) faulty_file{};
    made->set = &me.set;
    made->methods = methods();
    const int code = me.real_->xOpen(me.real_, name, made->real(), flags, out);
    if (code == SQLITE_OK) made->base.pMethods = &made->methods;
    return code;
}

} // namespace semel
