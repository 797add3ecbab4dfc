#include "edge/console/record_view.hpp"

#include <array>

#include "edge/api/answer_json.hpp"
#include "edge/api/encoding.hpp"
#include "edge/console/query.hpp"
#include "semel/http/response.hpp"

namespace semel::edge {
namespace {

using std::chrono::milliseconds;

std::int64_t to_ms(duration what) {
    return std::chrono::floor<milliseconds>(what).count();
}

json id_json(const record_id& id) {
    return {
        {"tenant", id.tenant}, {"operation", id.operation}, {"key", id.key}, {"at", to_query(id)}};
}

std::string_view policy_name(lease_expiry policy) {
    static constexpr std::array<std::string_view, 3> names = {"retry", "hold", "probe"};
    return names[static_cast<std::size_t>(policy)];
}

std::string_view form_name(http::result_form form) {
    static constexpr std::array<std::string_view, 3> names = {"unknown", "plain", "responses"};
    return names[static_cast<std::size_t>(form)];
}

bool is_response(const stored_result& from) {
    return http::status_of_type(from.type) != 0 || from.type == codec<http::response>::type;
}

// The response that clients get again, taken apart.
json response_json(const stored_result& from) {
    const auto got = http::decode(from, {.headers = {}});
    if (!got) return nullptr;
    json headers = json::array();
    for (const http::header& line : got->headers) headers.push_back({line.name, line.value});
    const std::string* const type = got->headers.find("Content-Type");
    return {{"status", got->status},
            {"headers", std::move(headers)},
            {"type", type != nullptr ? *type : ""},
            {"body", bytes_json(got->body)}};
}

json result_json(const stored_result& from) {
    json made = {{"kind", name_of(from.kind)},
                 {"type", from.type},
                 {"ref", from.ref},
                 {"bytes", from.body.size()}};
    if (!holds(from)) {
        made["unreadable"] = true;
        return made;
    }
    if (is_response(from)) made["response"] = response_json(from);
    const bool shown = made.contains("response") && !made["response"].is_null();
    if (!shown && from.kind != result_kind::tombstone) made["body"] = bytes_json(from.body);
    return made;
}

json checkpoints_json(const std::vector<checkpoint>& all) {
    json made = json::array();
    for (const checkpoint& one : all) {
        made.push_back({{"name", one.name}, {"data", bytes_json(one.data)}});
    }
    return made;
}

json policy_json(const record_policy& from) {
    return {{"on_lease_expiry", policy_name(from.on_lease_expiry)},
            {"attempts_max", from.attempts_max},
            {"grace_ms", to_ms(from.grace)},
            {"processing_max_ms", to_ms(from.processing_max)}};
}

void put_state(json& to, const record& from, time_point now) {
    to.update(summary_json(from));
    to["standing"] = standing(from, now);
    to["fence"] = std::to_string(from.holder.fence); // 64 bits: more than a number holds there
    to["policy"] = policy_json(from.policy);
    if (from.state == record_state::processing) {
        to["lease_until"] = rfc3339(from.lease_until);
        to["lease_ms"] = to_ms(from.lease_until - now);
    }
    if (from.state == record_state::succeeded) to["ref"] = from.result.ref;
}

} // namespace

std::string_view standing(const record& it, time_point now) {
    if (it.state != record_state::processing) return name(it.state);
    if (!lapsed(it, now)) return "running";
    return in_doubt(it, now) ? "in_doubt" : "lapsed";
}

json bytes_json(std::string_view bytes) {
    json made = {{"bytes", bytes.size()}};
    put_bytes(made, bytes);
    return made;
}

json line_json(const found_record& from, time_point now) {
    json made = id_json(from.id);
    put_state(made, from.it, now);
    return made;
}

json audit_json(const std::vector<audit_entry>& all) {
    json made = json::array();
    for (const audit_entry& one : all) {
        json& entry = made.emplace_back(json{{"at", rfc3339(one.at)},
                                             {"act", one.act},
                                             {"actor", one.actor},
                                             {"reason", one.reason},
                                             {"fence", std::to_string(one.fence)}});
        if (one.from) entry["from"] = name(*one.from);
        if (one.to) entry["to"] = name(*one.to);
    }
    return made;
}

json details_json(const record_details& of) {
    const record& it = of.it;
    json made = id_json(of.id);
    put_state(made, it, of.now);
    made["now"] = rfc3339(of.now);
    made["begun_at"] = rfc3339(it.begun_at);
    made["may_resolve"] = it.state == record_state::processing && lapsed(it, of.now);
    made["may_correct"] = ended_by_verdict(it);
    made["holds"] = form_name(of.holds);
    made["checkpoints"] = checkpoints_json(it.checkpoints);
    made["audit"] = audit_json(of.audit);
    if (it.content) made["fingerprint"] = it.content->hex();
    if (!it.attributes.empty()) made["attributes"] = it.attributes;
    if (it.state == record_state::succeeded) made["result"] = result_json(it.result);
    if (!it.error.empty()) made["error"] = it.error;
    if (it.retry_after != time_point{}) made["retry_after"] = rfc3339(it.retry_after);
    return made;
}

} // namespace semel::edge
