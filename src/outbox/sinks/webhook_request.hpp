// What a webhook is sent, and what its answer means. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "outbox/sinks/webhook_signature.hpp"
#include "semel/base/time.hpp"
#include "semel/outbox/relay.hpp"

namespace semel::outbox {

enum class key_quotes : std::uint8_t { without, with };

struct webhook_target {
    std::string host_header = {}; // "orders.internal:8080"
    std::string target = {};      // "/hooks?tenant=7"
    webhook_secrets secrets = {}; // empty: not signed
    key_quotes quotes = key_quotes::without;
};

// Appends the whole request. `timestamp`, in seconds since 1970, goes into the signatures.
void append_webhook(std::string& to, const webhook_target& at, const message& one,
                    std::int64_t timestamp);

struct webhook_answer {
    int status = 0;
    std::string_view retry_after = {}; // the header; empty: none
    std::string_view body = {};        // its beginning
};

struct webhook_verdict {
    delivery answer = {};
    std::string reason = {}; // of a failure, without what the endpoint wrote: for logs
    enum class health : std::uint8_t { good, bad, unclear } endpoint = health::unclear;
    std::optional<duration> rest = {}; // how long the endpoint wants to be left alone
};

[[nodiscard]] webhook_verdict judge(const webhook_answer& got);

} // namespace semel::outbox
