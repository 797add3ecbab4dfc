#include "databases/sqlite/client/open_files.hpp"

#include <pthread.h>
#include <sys/stat.h>

#include <map>

#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"

namespace semel::sqlite {

namespace {

using file_id = std::pair<dev_t, ino_t>;

struct registry {
    detail::mutex mutex;
    // How many connections have it open, by the generation of the process that opened them.
    std::map<file_id, std::map<std::uint64_t, std::size_t>> open SEMEL_GUARDED_BY(mutex);
};

// Held while the process forks: a child must not find it held by a thread that it does not have.
registry& all() {
    static registry* const made = new registry; // for connections that outlive static objects
    // Locked in one function and unlocked in another, which the analysis cannot follow.
    constexpr auto lock = []() SEMEL_UNCHECKED_LOCKS { all().mutex.lock(); };
    constexpr auto unlock = []() SEMEL_UNCHECKED_LOCKS { all().mutex.unlock(); };
    static const int watched = pthread_atfork(lock, unlock, unlock);
    SEMEL_ASSERT(watched == 0);
    return *made;
}

std::optional<file_id> id_of(const std::string& path) {
    struct stat about {};
    if (::stat(path.c_str(), &about) != 0) return std::nullopt;
    return file_id{about.st_dev, about.st_ino};
}

} // namespace

open_file::open_file(const std::string& path) : id_(id_of(path)) {
    if (!id_) return;
    const detail::guard lock{all().mutex};
    ++all().open[*id_][fork_generation()];
}

open_file::~open_file() {
    if (!id_ || home_.left()) return;
    const detail::guard lock{all().mutex};
    auto& counts = all().open[*id_];
    if (--counts[fork_generation()] == 0) counts.erase(fork_generation());
    if (counts.empty()) all().open.erase(*id_);
}

result<void> check_not_inherited(const std::string& path) {
    const auto id = id_of(path);
    if (!id) return {};
    const detail::guard lock{all().mutex};
    const auto at = all().open.find(*id);
    if (at == all().open.end() || at->second.begin()->first == fork_generation()) return {};
    return failure{.code = errc::unsupported,
                   .possible = effect::none,
                   .detail = "sqlite: '" + path +
                             "' was open when this process was forked, and SQLite would use it "
                             "without locks here; open the file only after fork(), or start this "
                             "process with exec"};
}

} // namespace semel::sqlite
