// A store on a prefix of its own in the server that ./test has started.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "databases/redis/client/errors.hpp"
#include "databases/redis/client/keys.hpp"
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

inline failure why_not(const redis_store_options& options) {
    auto opened = open_redis_store(options);
    return opened ? failure{.code = errc::internal, .detail = "it could be opened"}
                  : std::move(opened).error();
}

// The options of a user with those rights on the server.
inline redis_store_options as_user_with(const std::vector<std::string_view>& rights,
                                        redis_store_options server) {
    std::vector<std::string_view> parts{"ACL", "SETUSER", "bob", "reset", "on", ">secret"};
    parts.insert(parts.end(), rights.begin(), rights.end());
    test::redis_client{server}.ask(parts);
    server.user = "bob";
    server.password = "secret";
    return server;
}

// Of one who may do exactly what the message for NOPERM asks for.
inline redis_store_options as_advised_user(const redis_store_options& server) {
    std::string rights = redis::verdict_of("NOPERM").why.detail;
    rights.erase(0, rights.find("~<prefix>"));
    for (std::size_t at = 0; (at = rights.find("<prefix>", at)) != std::string::npos;) {
        rights.replace(at, std::string_view{"<prefix>"}.size(), server.prefix);
    }
    std::vector<std::string_view> each;
    for (std::size_t at = 0; at < rights.size();) {
        const std::size_t end = std::min(rights.find(' ', at), rights.size());
        each.push_back(std::string_view{rights}.substr(at, end - at));
        at = end + 1;
    }
    return as_user_with(each, server);
}

class redis_test : public testing::Test {
protected:
    redis_test() { options_.prefix = test::fresh_prefix(); }
    ~redis_test() override { client_.remove_all(options_.prefix); }

    std::unique_ptr<store> open() { return open_redis_store(options_).value(); }
    [[nodiscard]] std::string key_of(const record_id& id) const {
        return redis::record_key(options_.prefix, hash_of(id), id);
    }

    redis_store_options options_ = test::options_of(test::server_url("SEMEL_TEST_REDIS"));
    test::redis_client client_{options_};
};

} // namespace semel
