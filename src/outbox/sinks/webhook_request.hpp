// What a webhook is sent, and what its answer means. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "semel/outbox/sink.hpp"
#include "semel/time.hpp"

namespace semel::outbox {

enum class key_quotes : std::uint8_t { without, with };

struct webhook_target {
    std::string host_header = {}; // "orders.internal:8080"
    std::string target = {};      // "/hooks?tenant=7"
    std::string secret = {};      // empty: not signed
    key_quotes quotes = key_quotes::without;
};

// Appends the whole request. `timestamp` is in seconds since 1970 and goes into the signature:
//   Semel-Signature: v1=<hex of HMAC-SHA-256(secret, "<timestamp>.<body>")>
void append_webhook(std::string& to, const webhook_target& at, const message& one,
                    std::int64_t timestamp);

struct webhook_answer {
    int status = 0;
    std::string_view retry_after = {}; // the header; empty: none
    std::string_view body = {};        // its beginning
};

struct webhook_verdict {
    delivery answer = {};
    enum class health : std::uint8_t { good, bad, unclear } endpoint = health::unclear;
    std::optional<duration> rest = {}; // how long the endpoint wants to be left alone
};

[[nodiscard]] webhook_verdict judge(const webhook_answer& got);

} // namespace semel::outbox
