// Short words for commands on a store and for what it said.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "semel/store.hpp"

namespace semel {

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
