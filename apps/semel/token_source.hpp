// The tokens of a server: read from a file, and again when the file has changed.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/token_file.hpp"
#include "edge/admin/metrics.hpp"
#include "semel/core/metrics.hpp"
#include "semel/log.hpp"

namespace semel::app {

// How often a server looks whether the file has changed.
inline constexpr std::chrono::milliseconds token_look{500};
// After a failure the file is tried again, changed or not, after this many looks.
inline constexpr int looks_between_tries = 20;

// Of one thread, except counts() and is_old().
class token_source {
public:
    // `to` is shared with those who ask for tokens.
    token_source(std::string file, std::shared_ptr<logger> log,
                 std::shared_ptr<config::live_tokens> to)
        : file_(std::move(file)), log_(std::move(log)), to_(std::move(to)) {}

    // Throws usage_error or std::runtime_error; those in effect stay.
    void read();
    // The same, logged and counted instead of thrown.
    void reload();
    // Reloads if the file is another one than the one that was read, or tried, last; but not before
    // it is the same at two looks, since an editor may be writing it. After a failure it is tried
    // again now and then: the fault may have been the machine's (no descriptor left).
    void look();

    [[nodiscard]] edge::token_counts counts() const;
    // The last reading has failed.
    [[nodiscard]] bool is_old() const { return old_; }

private:
    // What changes with every change of a file; all zero: there is none.
    struct state {
        dev_t device = 0;
        ino_t number = 0;
        off_t size = 0;
        std::int64_t written = 0; // nanoseconds
        std::int64_t changed = 0; // owner and mode count, too
        friend bool operator==(const state&, const state&) = default;
    };
    [[nodiscard]] state state_now() const;
    void note_changes(const std::vector<config::token_line>& now);

    const std::string file_;
    const std::shared_ptr<logger> log_;
    const std::shared_ptr<config::live_tokens> to_;
    state seen_ = {};      // by the last reading
    state looked_at_ = {}; // by the last look
    int looks_since_failure_ = 0;
    std::map<std::string, http::grant> by_id_; // as last read
    counter read_, not_read_;
    std::atomic<std::size_t> count_ = 0;
    std::atomic<bool> old_ = false;
};

} // namespace semel::app
