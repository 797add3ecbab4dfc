#include "edge/center/told.hpp"

#include <algorithm>
#include <utility>

#include "edge/center/text.hpp"
#include "http/bounded_json.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

std::int64_t milliseconds_left(time_point until, time_point now) {
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(duration::zero(), until - now))
        .count();
}

std::string dumped(const json& what) {
    // Errors and attributes may have come by other ways than JSON.
    return what.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string_view kind_name(answers::start_kind kind) {
    static constexpr std::string_view names[] = {"first", "retried", "taken_over", "overwritten"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view kind_name(result_kind kind) {
    static constexpr std::string_view names[] = {"value", "rejection", "tombstone"};
    return names[static_cast<std::size_t>(kind)];
}

json result_json(const stored_result& from) {
    json made = {{"kind", kind_name(from.kind)}, {"type", from.type}};
    if (!from.ref.empty()) made["ref"] = from.ref;
    if (from.kind != result_kind::tombstone) put_bytes(made, from.body);
    return made;
}

json checkpoints_json(const std::vector<checkpoint>& from) {
    json made = json::array();
    for (const checkpoint& one : from) {
        made.push_back({{"name", one.name}});
        put_bytes(made.back(), one.data);
    }
    return made;
}

json attributes_json(const std::string& text) {
    json made = http::parse_bounded(text);
    return made.is_discarded() ? json(text) : made;
}

// Everything but the owner, which is the attempt's secret.
json record_json(const record& from, time_point now) {
    json made = {{"state", name(from.state)},
                 {"fence", from.holder.fence},
                 {"attempts", from.attempts},
                 {"created_at", rfc3339(from.created_at)},
                 {"updated_at", rfc3339(from.updated_at)},
                 {"now", rfc3339(now)}};
    if (from.content) made["fingerprint"] = from.content->hex();
    if (!from.attributes.empty()) made["attributes"] = attributes_json(from.attributes);
    if (!from.checkpoints.empty()) made["checkpoints"] = checkpoints_json(from.checkpoints);
    if (from.state == record_state::processing) {
        made["lease_until"] = rfc3339(from.lease_until);
        made["lease_ms"] = milliseconds_left(from.lease_until, now);
        return made;
    }
    made["expires_at"] = rfc3339(from.expires_at);
    if (from.state == record_state::succeeded) {
        made["result"] = result_json(from.result);
    } else {
        made["error"] = from.error;
    }
    return made;
}

json found_json(const found_record& from) {
    json made = {{"operation", from.id.operation},
                 {"key", from.id.key},
                 {"state", name(from.it.state)},
                 {"attempts", from.it.attempts},
                 {"created_at", rfc3339(from.it.created_at)},
                 {"updated_at", rfc3339(from.it.updated_at)}};
    if (from.it.state != record_state::processing) {
        made["expires_at"] = rfc3339(from.it.expires_at);
    }
    return made;
}

bool readable(const record& it) {
    return it.state != record_state::succeeded || holds(it.result);
}

told unreadable(const http::problem_options& options) {
    return trouble({.kind = problem_kind::result_unreadable}, options);
}

// ---- what a begin can be told

told say(answers::started&& one, time_point now, const http::problem_options&) {
    return outcome({{"outcome", "started"},
                    {"attempt", attempt_token(one.by)},
                    {"attempt_number", one.attempt},
                    {"kind", kind_name(one.kind)},
                    {"lease_until", rfc3339(one.lease_until)},
                    {"lease_ms", milliseconds_left(one.lease_until, now)},
                    {"checkpoints", checkpoints_json(one.checkpoints)}});
}

told say(answers::replay&& one, time_point, const http::problem_options& options) {
    if (!holds(one.result)) return unreadable(options);
    return outcome({{"outcome", "replay"},
                    {"result", result_json(one.result)},
                    {"expires_at", rfc3339(one.expires_at)}});
}

told say(answers::in_progress&& one, time_point now, const http::problem_options& options) {
    told made = trouble({.kind = problem_kind::in_progress,
                         .retry_after = std::max(duration::zero(), one.retry_at - now)},
                        options);
    made.body["retry_after_ms"] = milliseconds_left(one.retry_at, now);
    return made;
}

told say(answers::mismatch&&, time_point, const http::problem_options& options) {
    return trouble({.kind = problem_kind::mismatch}, options);
}

told say(answers::failed&& one, time_point, const http::problem_options& options) {
    told made = trouble({.kind = problem_kind::failed,
                         .status = 409,
                         .detail = one.error,
                         .attempts = one.attempts},
                        options);
    made.body["error"] = std::move(one.error);
    made.body["expires_at"] = rfc3339(one.expires_at);
    return made;
}

told say(answers::in_doubt&& one, time_point, const http::problem_options& options) {
    told made = trouble({.kind = problem_kind::in_doubt}, options);
    made.body["since"] = rfc3339(one.since);
    return made;
}

// ---- what an attempt can be told

told say(answers::stored&& one, time_point, const http::problem_options&) {
    json body = {{"outcome", "stored"}};
    if (one.expires_at != time_point{}) body["expires_at"] = rfc3339(one.expires_at);
    return outcome(std::move(body));
}

told say(answers::renewed&& one, time_point now, const http::problem_options&) {
    return outcome({{"outcome", "renewed"},
                    {"lease_until", rfc3339(one.lease_until)},
                    {"lease_ms", milliseconds_left(one.lease_until, now)}});
}

told say(answers::not_renewed&&, time_point, const http::problem_options& options) {
    return trouble({.kind = problem_kind::not_renewed}, options);
}

told say(answers::over_limit&&, time_point, const http::problem_options& options) {
    return trouble({.kind = problem_kind::limit_exceeded}, options);
}

told say(answers::fenced_off&& one, time_point now, const http::problem_options& options) {
    told made = trouble({.kind = problem_kind::fenced_off}, options);
    if (one.current && readable(*one.current))
        made.body["current"] = record_json(*one.current, now);
    return made;
}

// ---- a look-up

told say(answers::found&& one, time_point now, const http::problem_options& options) {
    if (!one.current) return trouble({.kind = problem_kind::not_found}, options);
    if (!readable(*one.current)) return unreadable(options);
    return outcome(record_json(*one.current, now));
}

// What no command of the center is answered with.
template <class Other> told say(Other&&, time_point, const http::problem_options& options) {
    return trouble({.kind = problem_kind::unavailable, .retry_after = options.retry_after},
                   options);
}

} // namespace

void put_bytes(json& into, std::string_view bytes) {
    if (is_utf8(bytes)) {
        into["text"] = bytes;
    } else {
        into["base64"] = to_base64(bytes);
    }
}

told outcome(json body) {
    return {.status = 200,
            .body = std::move(body),
            .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}}};
}

told trouble(const http::problem& what, const http::problem_options& options) {
    http::response made = http::to_response(what, options);
    return {
        .status = made.status, .body = json::parse(made.body), .headers = std::move(made.headers)};
}

told tell(semel::reply&& got, const http::problem_options& options) {
    const auto one_of = [&](auto&& one) { return say(std::move(one), got.now, options); };
    return std::visit(one_of, std::move(got.said));
}

told tell_already_stored(const record& it, const http::problem_options& options) {
    if (!readable(it)) return unreadable(options);
    json body = {{"outcome", "already_stored"},
                 {"result", result_json(it.result)},
                 {"expires_at", rfc3339(it.expires_at)}};
    if (it.result.kind == result_kind::tombstone) body["kept"] = false;
    return outcome(std::move(body));
}

told tell(const failure& why, problem_kind unknown, const http::problem_options& options) {
    if (why.code == errc::corrupt) return unreadable(options);
    const auto kind = why.possible == effect::unknown ? unknown : problem_kind::unavailable;
    return trouble({.kind = kind, .retry_after = options.retry_after}, options);
}

told tell(const result<record_page>& got, const http::problem_options& options) {
    if (!got && got.error().code == errc::invalid_argument) {
        return trouble({.kind = problem_kind::request_malformed, .detail = got.error().detail},
                       options);
    }
    if (!got) return tell(got.error(), problem_kind::unavailable, options);
    json records = json::array();
    for (const found_record& one : got->records) records.push_back(found_json(one));
    json body = {{"records", std::move(records)}};
    if (!got->cursor.empty()) body["cursor"] = got->cursor;
    return outcome(std::move(body));
}

http::response to_response(told&& what) {
    return {.status = what.status, .headers = std::move(what.headers), .body = dumped(what.body)};
}

json to_item(told&& what) {
    json made = {{"status", what.status}, {"body", std::move(what.body)}};
    if (const std::string* after = what.headers.find("Retry-After")) {
        made["retry_after"] = std::stoi(*after);
    }
    return made;
}

} // namespace semel::edge
