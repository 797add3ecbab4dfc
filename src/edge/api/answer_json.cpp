#include "edge/api/answer_json.hpp"

#include <algorithm>
#include <utility>

#include "edge/api/encoding.hpp"
#include "http/bounded_json.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

std::int64_t milliseconds_left(time_point until, time_point now) {
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(duration::zero(), until - now))
        .count();
}

std::string_view start_name(answers::start_kind kind) {
    static constexpr std::string_view names[] = {"first", "retried", "taken_over", "overwritten"};
    return names[static_cast<std::size_t>(kind)];
}

json result_json(const stored_result& from) {
    json made = {{"kind", name_of(from.kind)}, {"type", from.type}};
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
    json made = summary_json(from);
    made["fence"] = from.holder.fence;
    made["now"] = rfc3339(now);
    if (from.content) made["fingerprint"] = from.content->hex();
    if (!from.attributes.empty()) made["attributes"] = attributes_json(from.attributes);
    if (!from.checkpoints.empty()) made["checkpoints"] = checkpoints_json(from.checkpoints);
    if (from.state == record_state::processing) {
        made["lease_until"] = rfc3339(from.lease_until);
        made["lease_ms"] = milliseconds_left(from.lease_until, now);
        return made;
    }
    if (from.state == record_state::succeeded) {
        made["result"] = result_json(from.result);
    } else {
        made["error"] = from.error;
    }
    return made;
}

bool readable(const record& it) {
    return it.state != record_state::succeeded || holds(it.result);
}

json_response unreadable(const http::problem_options& options) {
    return refusal({.kind = problem_kind::result_unreadable}, options);
}

class answer_writer {
public:
    answer_writer(time_point now, const http::problem_options& options)
        : now_(now), options_(options) {}

    // ---- answers to a begin

    json_response operator()(const answers::started& one) const {
        return success({{"outcome", "started"},
                        {"attempt", attempt_token(one.by)},
                        {"attempt_number", one.attempt},
                        {"kind", start_name(one.kind)},
                        {"lease_until", rfc3339(one.lease_until)},
                        {"lease_ms", milliseconds_left(one.lease_until, now_)},
                        {"checkpoints", checkpoints_json(one.checkpoints)}});
    }

    json_response operator()(const answers::replay& one) const {
        if (!holds(one.result)) return unreadable(options_);
        return success({{"outcome", "replay"},
                        {"result", result_json(one.result)},
                        {"expires_at", rfc3339(one.expires_at)}});
    }

    json_response operator()(const answers::in_progress& one) const {
        json_response made =
            refusal({.kind = problem_kind::in_progress,
                     .retry_after = std::max(duration::zero(), one.retry_at - now_)},
                    options_);
        made.body["retry_after_ms"] = milliseconds_left(one.retry_at, now_);
        return made;
    }

    json_response operator()(const answers::mismatch&) const {
        return refusal({.kind = problem_kind::mismatch}, options_);
    }

    json_response operator()(const answers::failed& one) const {
        json_response made = refusal({.kind = problem_kind::failed,
                                      .status = 409,
                                      .detail = one.error,
                                      .attempts = one.attempts},
                                     options_);
        made.body["error"] = one.error;
        made.body["expires_at"] = rfc3339(one.expires_at);
        return made;
    }

    json_response operator()(const answers::in_doubt& one) const {
        json_response made = refusal({.kind = problem_kind::in_doubt}, options_);
        made.body["since"] = rfc3339(one.since);
        return made;
    }

    // ---- answers to an attempt

    json_response operator()(const answers::stored& one) const {
        json body = {{"outcome", "stored"}};
        if (one.expires_at != time_point{}) body["expires_at"] = rfc3339(one.expires_at);
        return success(std::move(body));
    }

    json_response operator()(const answers::renewed& one) const {
        return success({{"outcome", "renewed"},
                        {"lease_until", rfc3339(one.lease_until)},
                        {"lease_ms", milliseconds_left(one.lease_until, now_)}});
    }

    json_response operator()(const answers::not_renewed&) const {
        return refusal({.kind = problem_kind::not_renewed}, options_);
    }

    json_response operator()(const answers::over_limit&) const {
        return refusal({.kind = problem_kind::limit_exceeded}, options_);
    }

    json_response operator()(const answers::fenced_off& one) const {
        json_response made = refusal({.kind = problem_kind::fenced_off}, options_);
        if (one.current && readable(*one.current))
            made.body["current"] = record_json(*one.current, now_);
        return made;
    }

    // ---- the answer to a look-up

    json_response operator()(const answers::found& one) const {
        if (!one.current) return refusal({.kind = problem_kind::not_found}, options_);
        if (!readable(*one.current)) return unreadable(options_);
        return success(record_json(*one.current, now_));
    }

    // No command of the two APIs has another answer.
    template <class Other> json_response operator()(const Other&) const {
        return refusal({.kind = problem_kind::unavailable, .retry_after = options_.retry_after},
                       options_);
    }

private:
    const time_point now_;
    const http::problem_options& options_;
};

} // namespace

json summary_json(const record& from) {
    json made = {{"state", name(from.state)},
                 {"attempts", from.attempts},
                 {"created_at", rfc3339(from.created_at)},
                 {"updated_at", rfc3339(from.updated_at)}};
    if (from.state != record_state::processing) made["expires_at"] = rfc3339(from.expires_at);
    return made;
}

json_response to_json_response(const semel::reply& got, const http::problem_options& options) {
    return std::visit(answer_writer{got.now, options}, got.said);
}

json_response already_stored(const record& it, const http::problem_options& options) {
    if (!readable(it)) return unreadable(options);
    json body = {{"outcome", "already_stored"},
                 {"result", result_json(it.result)},
                 {"expires_at", rfc3339(it.expires_at)}};
    if (it.result.kind == result_kind::tombstone) body["kept"] = false;
    return success(std::move(body));
}

} // namespace semel::edge
