// A prefix of its own in a Redis server as a subject.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "semel/conformance.hpp"
#include "semel/stores/redis.hpp"
#include "support/redis_server.hpp"

namespace semel::conformance {

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
    redis_options options_ = test::options_of(test::server_url("SEMEL_TEST_REDIS"));
    test::redis_client client_{options_};
};

inline subject redis_subject() {
    return {.name = "redis",
            .make = [] { return std::make_unique<redis_backing>(); },
            .opens = instances::many,
            .pages = finding::at_least_once};
}

} // namespace semel::conformance
