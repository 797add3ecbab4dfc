// Who is signed in to the console. A session is 256 random bits in a cookie; here it is known by
// their hash only, and lives in memory: a restart signs everybody out.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "semel/fingerprint.hpp"
#include "semel/time.hpp"

namespace semel::edge {

// 64 hex digits that nobody can guess.
[[nodiscard]] std::string random_hex();

// In a time that does not depend on where they differ.
[[nodiscard]] bool equal_secrets(std::string_view left, std::string_view right);

// Thread-safe.
class sessions {
public:
    struct entry {
        fingerprint token;  // whose it is: asked again for each request, so a revoked token ends it
        std::string csrf;   // what a page of ours knows and another site's does not
        local_time ends_at; // however busy it is
    };
    struct opened {
        std::string id; // for the cookie
        entry it;
    };

    // Over `count_max` the one that ends first goes.
    sessions(duration length, std::size_t count_max) : length_(length), count_max_(count_max) {}

    [[nodiscard]] opened open(const fingerprint& token, local_time now);
    [[nodiscard]] std::optional<entry> find(std::string_view id, local_time now);
    void close(std::string_view id);

private:
    const duration length_;
    const std::size_t count_max_;

    std::mutex mutex_;
    std::map<std::string, entry> open_; // by the hash of the id; guarded by mutex_
};

} // namespace semel::edge
