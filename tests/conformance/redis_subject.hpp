// A prefix of its own in a Redis server as a subject.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "semel/conformance.hpp"
#include "semel/databases/redis.hpp"
#include "support/redis_server.hpp"

namespace semel::conformance {

// A server counts the changes of all its clients, so each half of a suite (./test runs two at a
// time) has one of its own.
inline redis_store_options own_redis() {
    const char* const half = std::getenv("GTEST_SHARD_INDEX");
    const bool second = half != nullptr && std::string_view{half} == "1";
    return test::options_of(test::server_url(second ? "SEMEL_TEST_REDIS_AOF" : "SEMEL_TEST_REDIS"));
}

class redis_backing final : public backing {
public:
    redis_backing() { options_.prefix = test::fresh_prefix(); }
    ~redis_backing() override { client_.remove_all(options_.prefix); }

    result<std::unique_ptr<store>> open() override { return open_redis_store(options_); }

    // Counts every change since the server has started: it is told to save nothing.
    std::optional<std::uint64_t> writes() override {
        return std::stoull(client_.info("rdb_changes_since_last_save"));
    }

private:
    redis_store_options options_ = own_redis();
    test::redis_client client_{options_};
};

inline subject redis_subject() {
    return {.name = "redis",
            .make = [] { return std::make_unique<redis_backing>(); },
            .opens = instances::many,
            .pages = finding::at_least_once};
}

} // namespace semel::conformance
