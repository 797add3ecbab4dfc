// A store on a prefix of its own in the server that ./test has started.
#pragma once

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>

#include "stores/redis/keys.hpp"
#include "support/redis_server.hpp"

namespace semel {

inline record_id id_of(std::string key) {
    return {.tenant = "acme", .operation = "ORDER_CREATE", .key = std::move(key)};
}

inline commands::begin begin_of(std::uint64_t owner) {
    return {.owner = {.high = owner, .low = ~owner}, .lease = std::chrono::seconds{30}};
}

inline commands::complete complete_of(const claim& by, std::string body,
                                      duration retention = std::chrono::hours{1}) {
    stored_result made{.body = std::move(body)};
    seal(made);
    return {.by = by, .result = std::move(made), .retention = retention};
}

// The claim of a begin that must have started.
inline claim must_start(store& whom, const record_id& id, commands::begin what) {
    const auto got = whom.call(id, std::move(what));
    EXPECT_TRUE(got) << describe(got.error());
    const auto* started = got ? std::get_if<answers::started>(&got->said) : nullptr;
    EXPECT_NE(started, nullptr) << id.key;
    return started == nullptr ? claim{} : started->by;
}

inline failure why_not(const redis_options& options) {
    auto opened = open_redis_store(options);
    return opened ? failure{.code = errc::internal, .detail = "it could be opened"}
                  : std::move(opened).error();
}

class redis_test : public testing::Test {
protected:
    redis_test() { options_.prefix = test::fresh_prefix(); }
    ~redis_test() override { client_.remove_all(options_.prefix); }

    std::unique_ptr<store> open() { return open_redis_store(options_).value(); }
    [[nodiscard]] std::string key_of(const record_id& id) const {
        return redis::record_key(options_.prefix, hash_of(id), id);
    }

    redis_options options_ = test::options_of(test::server_url("SEMEL_TEST_REDIS"));
    test::redis_client client_{options_};
};

} // namespace semel
