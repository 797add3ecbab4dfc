// The users that are signed in to the console. A session is 256 random bits in a cookie. Only their
// hash is kept here, in memory: a restart signs all users out.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "semel/base/mutex.hpp"
#include "semel/base/time.hpp"
#include "semel/fingerprint.hpp"

namespace semel::edge {

// 32 bytes that cannot be guessed.
[[nodiscard]] std::string random_bytes();
// 64 hex digits, likewise.
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
        local_time used_at; // last
    };
    struct opened {
        std::string id; // for the cookie
        entry it;
    };

    struct limits {
        duration length = std::chrono::hours{8}; // how long a user stays signed in at most
        duration idle = std::chrono::hours{1};   // and without a request
        std::size_t count_max = 1'000;
        std::size_t per_token_max = 20;
    };

    // Over `per_token_max` the token's own session that ends first goes; over `count_max` the one
    // of the token that has most.
    explicit sessions(limits with) : limits_(with) {}

    [[nodiscard]] opened open(const fingerprint& token, local_time now);
    [[nodiscard]] std::optional<entry> find(std::string_view id, local_time now);
    void close(std::string_view id);

private:
    [[nodiscard]] bool over(const entry& one, local_time now) const;
    void make_room(const fingerprint& token) SEMEL_REQUIRES(mutex_);
    // `token` is its hash in hex.
    void drop_first_of(const std::string& token) SEMEL_REQUIRES(mutex_);

    const limits limits_;

    detail::mutex mutex_;
    std::map<std::string, entry> open_ SEMEL_GUARDED_BY(mutex_); // by the hash of the id
};

} // namespace semel::edge
