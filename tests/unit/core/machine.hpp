// One record, a clock that the test moves, and `apply` between them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "semel/core/record_machine.hpp"
#include "support/noon.hpp"

namespace semel::test {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

inline constexpr record_policy held{.on_lease_expiry = lease_expiry::hold};
inline constexpr auto past_lease = seconds{31};

inline std::uint64_t micros(time_point at) {
    return static_cast<std::uint64_t>(at.time_since_epoch().count());
}

inline fingerprint content(unsigned char fill) {
    fingerprint::bytes_type bytes;
    bytes.fill(static_cast<std::byte>(fill));
    return fingerprint{bytes};
}

inline commands::begin begin(std::uint64_t owner = 1, record_policy policy = {}) {
    return {.content = content(0xAA),
            .owner = {.high = owner, .low = owner},
            .lease = seconds{30},
            .policy = policy};
}

inline commands::complete complete(const claim& by, std::string body = "done") {
    return {.by = by, .result = {.body = std::move(body)}, .retention = hours{1}};
}

inline commands::fail fail(const claim& by, commands::failure_kind kind) {
    return {
        .by = by, .kind = kind, .error = "no", .retry_after = seconds{10}, .retention = hours{1}};
}

struct machine {
    std::optional<record> it = {};
    time_point now = noon;
    std::uint64_t floor = 0;
    change last = change::none;
    std::optional<audit_entry> audit = {};

    answer send(command what) {
        auto made = apply(it ? &*it : nullptr, std::move(what), {.now = now, .fence_floor = floor});
        last = made.what;
        audit = std::move(made.audit);
        if (made.what == change::put) it = std::move(made.after);
        if (made.what == change::erase) {
            floor = std::max(floor, it->holder.fence);
            it.reset();
        }
        return std::move(made.said);
    }

    // The answer, which must be of this kind.
    template <class Answer> Answer expect(command what) {
        const answer said = send(std::move(what));
        EXPECT_TRUE(std::holds_alternative<Answer>(said)) << "answered " << name(said);
        const auto* one = std::get_if<Answer>(&said);
        if constexpr (std::is_default_constructible_v<Answer>) {
            return one == nullptr ? Answer{} : *one;
        } else {
            return std::get<Answer>(said);
        }
    }

    // As expect, and nothing may be written.
    template <class Answer> Answer expect_refusal(command what) {
        auto said = expect<Answer>(std::move(what));
        EXPECT_EQ(last, change::none);
        EXPECT_FALSE(audit);
        return said;
    }

    claim start(std::uint64_t owner = 1, record_policy policy = {}) {
        return expect<answers::started>(begin(owner, policy)).by;
    }
};

} // namespace semel::test
