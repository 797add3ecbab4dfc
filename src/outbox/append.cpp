#include "semel/outbox.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "outbox/header_text.hpp"
#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"
#include "semel/ids.hpp"

namespace semel::outbox {

namespace {

failure wrong(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "outbox: " + std::move(detail)};
}

failure too_long(std::string_view what, std::size_t is, std::size_t most) {
    return {.code = errc::limit_exceeded,
            .possible = effect::none,
            .detail = "outbox: " + std::string{what} + " is " + std::to_string(is) + ", " +
                      std::to_string(most) + " are allowed"};
}

bool is_topic(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char one) { return one > ' ' && one < 0x7f; });
}

bool same_name(std::string_view one, std::string_view other) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [&](char a, char b) { return lower(a) == lower(b); });
}

bool is_trace(std::string_view name) {
    return same_name(name, header_traceparent) || same_name(name, header_tracestate);
}

void add_missing(std::vector<event_header>& to, const char* name, const std::string& value) {
    if (value.empty()) return;
    const bool there = std::any_of(to.begin(), to.end(),
                                   [&](const auto& one) { return same_name(one.name, name); });
    if (!there) to.push_back({.name = name, .value = value});
}

result<void> check_headers(const std::vector<event_header>& all, const event_limits& limits) {
    if (all.size() > limits.headers_max) {
        return too_long("number of headers", all.size(), limits.headers_max);
    }
    for (const auto& one : all) {
        if (!is_header_name(one.name)) return wrong("a header's name is not visible ASCII");
        if (!is_header_value(one.value)) {
            return wrong("header '" + one.name + "' has control characters or blanks at its ends");
        }
    }
    return {};
}

result<void> check(const event& what, const event_limits& limits) {
    if (what.topic.size() > limits.topic_bytes_max) {
        return too_long("length of the topic", what.topic.size(), limits.topic_bytes_max);
    }
    if (!is_topic(what.topic)) return wrong("a topic is visible ASCII, at least one letter");
    if (what.key.size() > limits.key_bytes_max) {
        return too_long("length of the message key", what.key.size(), limits.key_bytes_max);
    }
    if (what.payload.size() > limits.payload_bytes_max) {
        return too_long("length of the payload", what.payload.size(), limits.payload_bytes_max);
    }
    if (!what.id.empty() && !ulid::parse(what.id)) return wrong("the event's id is not a ULID");
    return check_headers(what.headers, limits);
}

} // namespace

// FNV-1a, then mixed: the remainder of a plain one would favour some shards.
std::int32_t shard_of(std::string_view message_key, std::int32_t shards) {
    SEMEL_ASSERT(shards > 0);
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char one : message_key) {
        hash = (hash ^ static_cast<unsigned char>(one)) * 0x100000001b3;
    }
    hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
    hash ^= hash >> 33;
    return static_cast<std::int32_t>(hash % static_cast<std::uint64_t>(shards));
}

// ---- waking -------------------------------------------------------------------------------------

void wake_signal::raise() {
    {
        const detail::guard lock{mutex_};
        ++count_;
    }
    raised_.notify_all();
}

std::uint64_t wake_signal::wait(std::uint64_t seen, duration most) {
    detail::guard lock{mutex_};
    raised_.wait_for(lock, most, [&]() SEMEL_REQUIRES(mutex_) { return count_ != seen; });
    return count_;
}

// ---- appending ----------------------------------------------------------------------------------

appender::appender(append_options options) : options_(std::move(options)) {
    options_.shards = std::clamp(options_.shards, 1, shards_max);
}

result<stored_event> appender::stored(event what, const origin& from) const {
    add_missing(what.headers, header_idempotency_key, from.idempotency_key);
    add_missing(what.headers, header_traceparent, from.traceparent);
    add_missing(what.headers, header_tracestate, from.tracestate);
    if (auto fits = check(what, options_.limits); !fits) return std::move(fits).error();
    if (what.id.empty()) what.id = new_ulid().to_string();
    if (what.key.empty()) what.key = what.id;
    stored_event made{.id = std::move(what.id),
                      .topic = std::move(what.topic),
                      .key = std::move(what.key),
                      .payload = std::move(what.payload),
                      .headers = {},
                      .trace_context = {}};
    made.shard = shard_of(made.key, options_.shards);
    for (const auto& one : what.headers) {
        add_header_line(is_trace(one.name) ? made.trace_context : made.headers, one);
    }
    const std::size_t bytes = made.headers.size() + made.trace_context.size();
    if (bytes > options_.limits.headers_bytes_max) {
        return too_long("length of all headers", bytes, options_.limits.headers_bytes_max);
    }
    return made;
}

result<std::string> appender::append(writer& in, event what, const origin& from) const {
    std::vector<event> one;
    one.push_back(std::move(what));
    auto ids = append(in, std::move(one), from);
    if (!ids) return std::move(ids).error();
    return std::move(ids->front());
}

result<std::vector<std::string>> appender::append(writer& in, std::vector<event> all,
                                                  const origin& from) const {
    if (all.size() > options_.limits.batch_max) {
        return too_long("number of events", all.size(), options_.limits.batch_max);
    }
    std::vector<stored_event> made;
    std::vector<std::string> ids;
    for (event& one : all) {
        auto ready = stored(std::move(one), from);
        if (!ready) return std::move(ready).error();
        ids.push_back(ready->id);
        made.push_back(*std::move(ready));
    }
    if (made.empty()) return ids;
    if (auto done = in.insert(made); !done) return std::move(done).error();
    committed(); // not yet, but soon: they look more often for a while
    return ids;
}

void appender::committed() const {
    if (options_.wake != nullptr) options_.wake->raise();
}

} // namespace semel::outbox
