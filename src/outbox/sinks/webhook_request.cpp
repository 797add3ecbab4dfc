#include "outbox/sinks/webhook_request.hpp"

#include <algorithm>
#include <charconv>

#include "outbox/sinks/carried.hpp"
#include "semel/http/message.hpp"

namespace semel::outbox {

namespace {

constexpr std::string_view content_type = "content-type";
constexpr std::size_t quoted_bytes_max = 200;
constexpr duration rest_max = std::chrono::minutes{10};

void append_line(std::string& to, std::string_view name, std::string_view value) {
    to.append(name).append(": ").append(value).append("\r\n");
}

// Quotes and backslashes inside a quoted key are escaped.
std::string key_value(const std::string& id, key_quotes quotes) {
    const std::string safe = carried::safe_value(id);
    if (quotes == key_quotes::without) return safe;
    std::string made = "\"";
    for (const char one : safe) {
        if (one == '"' || one == '\\') made += '\\';
        made += one;
    }
    return made += '"';
}

bool is_content_type(const event_header& one) {
    return http::equal_ignoring_case(one.name, content_type);
}

std::string content_type_of(const event& what) {
    std::string_view type = "application/octet-stream";
    for (const auto& one : what.headers) {
        if (is_content_type(one)) type = one.value;
    }
    return carried::safe_value(type);
}

void append_event_headers(std::string& to, const event& what) {
    for (const auto& one : what.headers) {
        if (is_content_type(one)) continue;
        append_line(to, carried::safe_name(one), carried::safe_value(one.value));
    }
}

std::optional<duration> rest_in(std::string_view retry_after) {
    std::int64_t seconds = 0;
    const char* const end = retry_after.data() + retry_after.size();
    const auto read = std::from_chars(retry_after.data(), end, seconds);
    // A date, which the header may hold as well, is left to the relay's own pauses.
    if (retry_after.empty() || read.ec != std::errc{} || read.ptr != end || seconds < 0) {
        return std::nullopt;
    }
    return std::min<duration>(std::chrono::seconds{std::min<std::int64_t>(seconds, 86'400)},
                              rest_max);
}

std::string reason_of(const webhook_answer& got) {
    std::string made = "http " + std::to_string(got.status);
    if (!got.retry_after.empty()) made.append("; retry after ").append(got.retry_after);
    return made;
}

std::string text_of(const webhook_answer& got) {
    std::string made = reason_of(got);
    if (!got.body.empty()) made.append(": ").append(got.body.substr(0, quoted_bytes_max));
    return made;
}

bool is_busy(int status) {
    return status == 408 || status == 409 || status == 425 || status == 429;
}

} // namespace

void append_webhook(std::string& to, const webhook_target& at, const message& one,
                    std::int64_t timestamp) {
    const event& what = one.event;
    const std::string id = key_value(what.id, at.quotes);
    const std::string topic = carried::safe_value(what.topic);
    const std::string key = carried::safe_value(what.key);
    const std::string type = content_type_of(what);
    to.append("POST ").append(at.target).append(" HTTP/1.1\r\n");
    append_line(to, "Host", at.host_header);
    append_line(to, "User-Agent", "semel");
    append_line(to, "Idempotency-Key", id);
    append_line(to, "Semel-Attempt", std::to_string(one.attempts));
    append_event_headers(to, what);
    append_line(to, "Content-Type", type);
    append_line(to, carried::topic, topic);
    if (!key.empty()) append_line(to, carried::key, key);
    const signed_request all{.timestamp = timestamp,
                             .id = id,
                             .topic = topic,
                             .key = key,
                             .content_type = type,
                             .body = what.payload};
    for (const auto& [name, value] : signature_lines(at.secrets, all)) append_line(to, name, value);
    append_line(to, "Content-Length", std::to_string(what.payload.size()));
    to.append("\r\n").append(what.payload);
}

webhook_verdict judge(const webhook_answer& got) {
    using health = webhook_verdict::health;
    if (got.status >= 200 && got.status < 300) {
        return {.answer = {.how = delivered::yes}, .endpoint = health::good};
    }
    webhook_verdict made{.answer = {.how = delivered::later, .error = text_of(got)},
                         .reason = reason_of(got)};
    if (got.status >= 500) {
        made.endpoint = health::bad;
        made.rest = rest_in(got.retry_after);
    } else if (is_busy(got.status)) {
        // In progress is about one message; too many requests is about all of them.
        if (got.status == 429) made.rest = rest_in(got.retry_after);
    } else if (got.status >= 400) {
        made.answer.how = delivered::rejected;
        made.endpoint = health::good;
    } else {
        made.answer.error += "; redirections are not followed";
        made.endpoint = health::bad;
    }
    return made;
}

} // namespace semel::outbox
