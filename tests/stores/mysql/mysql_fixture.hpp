// Tables of its own for each test, and short words for commands on a store.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "semel/open.hpp"
#include "semel/stores/mysql.hpp"
#include "support/mysql_server.hpp"

namespace semel {

class mysql_test : public testing::Test {
protected:
    mysql_test() { migrate(url(), migrate_mode::run).value(); }

    [[nodiscard]] std::string url() const { return prefix_.url(); }
    [[nodiscard]] const std::string& prefix() const { return prefix_.name(); }
    [[nodiscard]] std::string record_table() const { return prefix_.name() + "record"; }

    [[nodiscard]] mysql_store_options options() {
        return {.port = static_cast<std::uint16_t>(testing_support::mysql_port()),
                .user = "semel",
                .password = "semel",
                .database = "semel",
                .table_prefix = prefix_.name(),
                .lanes = 1,
                .counters = &counters_};
    }
    [[nodiscard]] std::unique_ptr<store> open() { return open_mysql_store(options()).value(); }

    // SQL behind the store's back.
    std::string sql(const std::string& text) { return client_.sql(text); }

    [[nodiscard]] store_counters::values counted() const { return counters_.snapshot(); }

    store_counters counters_;

private:
    const testing_support::mysql_prefix prefix_;
    testing_support::mysql_client client_;
};

inline record_id id_of(std::string key) {
    return {.tenant = "acme", .operation = "ORDER_CREATE", .key = std::move(key)};
}

inline constexpr owner_id anna{.high = 1, .low = 2};
inline constexpr owner_id bert{.high = 3, .low = 4};

inline commands::begin begin_by(owner_id owner) {
    return {.owner = owner, .lease = std::chrono::seconds{30}};
}

inline commands::complete complete_with(const claim& by, std::string body) {
    stored_result result{.body = std::move(body), .type = "text/plain"};
    seal(result);
    return {.by = by, .result = std::move(result), .retention = std::chrono::hours{1}};
}

// The answer as T; a test failure and a default T if it is another.
template <class T> T said(const result<reply>& got) {
    if (!got) {
        ADD_FAILURE() << describe(got.error());
        return {};
    }
    const auto* one = std::get_if<T>(&got->said);
    if (one == nullptr) {
        ADD_FAILURE() << "the answer is " << name(got->said);
        return {};
    }
    return *one;
}

inline failure why(const result<reply>& got) {
    if (!got) return got.error();
    return {.code = errc::internal, .detail = "answered " + std::string{name(got->said)}};
}

} // namespace semel
