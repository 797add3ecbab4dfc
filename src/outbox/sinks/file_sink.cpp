#include "outbox/sinks/file_sink.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "outbox/sinks/event_json.hpp"
#include "outbox/sinks/per_key.hpp"

namespace semel::outbox {

namespace {

enum class syncing { yes, no };

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

failure unavailable(std::string detail) {
    return {.code = errc::unavailable, .possible = effect::none, .detail = std::move(detail)};
}

std::string system_text(std::string_view doing, int error) {
    return std::string{doing} + ": " + std::generic_category().message(error);
}

// A crash, or a full disk, may have left half a line behind.
bool ends_within_line(int file) {
    char last = '\n';
    const off_t size = ::lseek(file, 0, SEEK_END);
    return size > 0 && ::pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

// Lets one writer at a time write to the file. Without a lock if the file system has none.
class file_lock {
public:
    explicit file_lock(int file) : file_(file) { static_cast<void>(::flock(file_, LOCK_EX)); }
    file_lock(const file_lock&) = delete;
    file_lock& operator=(const file_lock&) = delete;
    ~file_lock() { static_cast<void>(::flock(file_, LOCK_UN)); }

private:
    const int file_;
};

// A power cut may take a new file whose folder has not reached the disk, however often the file
// itself was synced. Done every time: the file may be another worker's, and new all the same.
result<void> sync_name_of(const std::string& path) {
    const std::filesystem::path parent = std::filesystem::path{path}.parent_path();
    const std::string folder = parent.empty() ? "." : parent.string();
    const int at = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    // Some file systems cannot sync a folder, and say EINVAL.
    const bool done = at >= 0 && (::fsync(at) == 0 || errno == EINVAL);
    const int error = errno;
    if (at >= 0) ::close(at);
    if (done) return {};
    return unavailable(system_text("cannot sync the folder " + folder, error) +
                       "; let this user read the folder, or write ?sync=no");
}

// One write for a batch. A line that a full disk has cut short is ended before the next one, no
// matter whose, so that a reader loses only the torn line, which counts as not delivered.
class file_sink final : public sink {
public:
    file_sink(int file, syncing sync)
        : file_(file), sync_(sync), readable_(file != STDOUT_FILENO) {}
    ~file_sink() override {
        if (file_ != STDOUT_FILENO) ::close(file_);
    }

    void deliver(std::span<const message> batch, order kept, std::span<delivery> answers) override {
        const file_lock alone{readable_ ? file_ : -1};
        const bool torn = readable_ ? ends_within_line(file_) : torn_;
        lines_.assign(torn ? "\n" : "");
        ends_.clear();
        for (const auto& one : batch) {
            append_json_line(lines_, one);
            ends_.push_back(lines_.size());
        }
        const written got = write_all();
        const auto whole = std::upper_bound(ends_.begin(), ends_.end(), got.bytes);
        std::size_t done = static_cast<std::size_t>(whole - ends_.begin());
        if (got.bytes > 0) torn_ = lines_[got.bytes - 1] != '\n';
        std::string why = got.error == 0 ? "" : system_text("write", got.error);
        if (done > 0 && sync_ == syncing::yes && ::fdatasync(file_) != 0) {
            why = system_text("fdatasync", errno);
            done = 0;
        }
        std::fill_n(answers.begin(), done, delivery{.how = delivered::yes});
        give_back(batch, kept, answers, why, done);
    }

private:
    struct written {
        std::size_t bytes = 0;
        int error = 0;
    };

    written write_all() {
        written made;
        while (made.bytes < lines_.size()) {
            const auto got = ::write(file_, lines_.data() + made.bytes, lines_.size() - made.bytes);
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) {
                made.error = errno;
                return made;
            }
            made.bytes += static_cast<std::size_t>(got);
        }
        return made;
    }

    const int file_;
    const syncing sync_;
    const bool readable_; // others may write to it, and leave half a line
    bool torn_ = false;
    std::string lines_;
    std::vector<std::size_t> ends_;
};

result<syncing> read_sync(net::url_parameters& given) {
    std::string word = "yes";
    given.text("sync", word);
    if (word == "yes") return syncing::yes;
    if (word == "no") return syncing::no;
    return refused("parameter sync of a file sink must be yes or no");
}

struct place {
    std::string path;
    syncing sync = syncing::yes;
};

result<place> place_of(const net::parsed_url& url) {
    place made{.path = url.target};
    if (made.path.starts_with("//")) made.path.erase(0, 2);
    if (made.path.empty()) return refused("a file sink needs a path: file:events.jsonl");
    net::url_parameters given{url};
    const auto sync = read_sync(given);
    if (!sync) return sync.error();
    made.sync = *sync;
    if (auto read = given.finish(); !read) return std::move(read).error();
    return made;
}

failure cannot_open(const std::string& path, int error) {
    return unavailable(system_text("cannot open " + path, error));
}

} // namespace

result<std::unique_ptr<sink>> open_stdout_sink(const net::parsed_url& url, const sink_options&) {
    if (!url.target.empty()) return refused("'stdout:' has no path");
    net::url_parameters given{url};
    if (auto read = given.finish(); !read) return std::move(read).error();
    return std::unique_ptr<sink>{std::make_unique<file_sink>(STDOUT_FILENO, syncing::no)};
}

result<std::unique_ptr<sink>> open_file_sink(const net::parsed_url& url, const sink_options&) {
    const auto to = place_of(url);
    if (!to) return to.error();
    const int file = ::open(to->path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0) return cannot_open(to->path, errno);
    auto made = std::make_unique<file_sink>(file, to->sync);
    if (to->sync == syncing::yes) {
        if (auto kept = sync_name_of(to->path); !kept) return std::move(kept).error();
    }
    return std::unique_ptr<sink>{std::move(made)};
}

result<void> check_file_sink(const net::parsed_url& url) {
    const auto to = place_of(url);
    if (!to) return to.error();
    return {};
}

result<void> try_file_sink(const net::parsed_url& url) {
    const auto to = place_of(url);
    if (!to) return to.error();
    const int file = ::open(to->path.c_str(), O_RDWR | O_APPEND | O_CLOEXEC);
    if (file >= 0) return ::close(file), result<void>{};
    if (errno != ENOENT) return cannot_open(to->path, errno);
    // Delivering makes the file, where its folder lets this user do so.
    const auto folder = std::filesystem::path{to->path}.parent_path();
    const std::string name = folder.empty() ? "." : folder.string();
    if (::access(name.c_str(), W_OK | X_OK) != 0) return cannot_open(to->path, errno);
    return {};
}

} // namespace semel::outbox
