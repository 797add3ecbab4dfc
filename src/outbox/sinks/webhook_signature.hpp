// How requests to webhooks are signed, whatever they carry. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::outbox {

// Header values exactly as they are sent; empty where a request has no such header.
struct signed_request {
    std::int64_t timestamp = 0;         // Semel-Timestamp: seconds since 1970
    std::string_view id = {};           // Idempotency-Key
    std::string_view topic = {};        // Semel-Topic
    std::string_view key = {};          // Semel-Key
    std::string_view content_type = {}; // Content-Type
    std::string_view body = {};
};

struct webhook_secrets {
    std::string now = {};    // empty: requests are not signed
    std::string before = {}; // while receivers change to `now`; empty: none
};

// The header lines of a signed request; none without a secret. Each signature header has one
// signature per secret, joined by a comma:
//   Semel-Timestamp: <timestamp>
//   Semel-Signature: v1=<hex of HMAC-SHA-256(secret, "<timestamp>.<body>")>
//   Semel-Signature-V2: v2=<hex of HMAC-SHA-256(secret, "v2\n<timestamp>\n<id>\n<topic>\n<key>\n
//                           <content type>\n<body>")>
// v1 does not cover the headers: a captured request could be sent again under another key. Header
// values hold no line ends, so that no two requests have the same text under v2.
[[nodiscard]] std::vector<std::pair<std::string_view, std::string>>
signature_lines(const webhook_secrets& with, const signed_request& what);

} // namespace semel::outbox
