#include "record_text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "body_text.hpp"
#include "edge/api/encoding.hpp"
#include "semel/core/record_machine.hpp"
#include "semel/http/response.hpp"

namespace semel::app {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t cell_bytes_max = 48;
constexpr std::size_t text_shown_max = 4'096;

void put(json& to, const std::string& name, const std::string& bytes) {
    if (is_utf8(bytes)) {
        to[name] = bytes;
    } else {
        to[name + "_base64"] = edge::to_base64(bytes);
    }
}

void put_time(json& to, const std::string& name, time_point when) {
    if (when != time_point{}) to[name] = time_text(when);
}

std::string_view kind_name(result_kind kind) {
    static constexpr std::string_view names[]{"value", "rejection", "tombstone"};
    return names[static_cast<std::size_t>(kind)];
}

std::string_view policy_name(lease_expiry policy) {
    static constexpr std::string_view names[]{"retry", "hold", "probe"};
    return names[static_cast<std::size_t>(policy)];
}

json result_json(const stored_result& it, result_bodies bodies) {
    json made{{"kind", kind_name(it.kind)}};
    put(made, "type", it.type);
    if (!it.ref.empty()) put(made, "ref", it.ref);
    if (bodies == result_bodies::left_out) return made;
    const auto answer = http::status_of_type(it.type) != 0 ? http::decode(it, {})
                                                           : result<http::response>{failure{}};
    if (!answer) {
        put(made, "body", it.body);
        return made;
    }
    made["status"] = answer->status;
    for (const http::header& one : answer->headers) put(made["headers"], one.name, one.value);
    put(made, "body", answer->body);
    return made;
}

// What a person wants to know about a record at first sight.
std::string condition(const record& it, time_point now) {
    if (it.state != record_state::processing) {
        return "expires in " + age_text(it.expires_at - now);
    }
    if (!lapsed(it, now)) return "lease for " + age_text(it.lease_until - now);
    const bool rerun =
        it.policy.on_lease_expiry == lease_expiry::retry && it.attempts < it.policy.attempts_max;
    return (rerun ? "lapsed " : "in doubt ") + age_text(now - it.lease_until);
}

// A text that gets lines of its own; "" if it is not there.
std::string take_text(json& from, const std::string& name) {
    if (!from.is_object() || !from.contains(name)) return {};
    const std::string text = from[name].get<std::string>();
    from.erase(name);
    return text;
}

// The parts of a result and its headers are rows, too: "result.status", "result.headers.Location".
void add_rows(std::vector<std::vector<std::string>>& to, const std::string& before,
              const json& from) {
    for (const auto& [name, value] : from.items()) {
        if (value.is_object()) {
            add_rows(to, before + name + ".", value);
        } else if (!value.is_array() && !value.is_null()) {
            const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
            to.push_back({printable(before + name), printable(text.substr(0, text_shown_max))});
        }
    }
}

void print_text(std::ostream& to, std::string_view name, const std::string& text) {
    if (text.empty()) return;
    const std::string shown = harmless(laid_out(text));
    std::size_t end = std::min(shown.size(), text_shown_max);
    while (end < shown.size() && (static_cast<unsigned char>(shown[end]) & 0xc0U) == 0x80U) --end;
    to << name << '\n' << shown.substr(0, end) << '\n';
    if (end < shown.size()) to << "(cut here; --json shows all of it)\n";
}

std::string cut(std::string text) {
    if (text.size() <= cell_bytes_max) return text;
    return text.substr(0, cell_bytes_max - 1) + "~";
}

} // namespace

std::string printable(std::string_view bytes) {
    std::string made;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte >= 0x7f || c == '\\') {
            made += fmt::format("\\x{:02x}", byte);
        } else {
            made += c;
        }
    }
    return made;
}

std::string time_text(time_point when) {
    return when == time_point{} ? "" : rfc3339(when);
}

std::string age_text(duration length) {
    using namespace std::chrono;
    const auto in = [&](auto unit) { return duration_cast<decltype(unit)>(length).count(); };
    if (length < seconds{1}) return fmt::format("{}ms", in(milliseconds{}));
    if (length < minutes{2}) return fmt::format("{}s", in(seconds{}));
    if (length < hours{2}) return fmt::format("{}m", in(minutes{}));
    if (length < hours{48}) return fmt::format("{}h", in(hours{}));
    return fmt::format("{}d", in(hours{}) / 24);
}

json to_json(const found_record& one, time_point now, result_bodies bodies) {
    const record& it = one.it;
    json made;
    put(made, "tenant", one.id.tenant);
    put(made, "operation", one.id.operation);
    put(made, "key", one.id.key);
    made["state"] = name(it.state);
    made["fence"] = it.holder.fence;
    made["attempts"] = it.attempts;
    made["on_lease_expiry"] = policy_name(it.policy.on_lease_expiry);
    if (it.state == record_state::processing) {
        made["lapsed"] = lapsed(it, now);
        put_time(made, "lease_until", it.lease_until);
    }
    if (it.content) made["fingerprint"] = it.content->hex();
    if (it.state == record_state::succeeded) made["result"] = result_json(it.result, bodies);
    if (!it.error.empty()) put(made, "error", it.error);
    if (!it.attributes.empty()) put(made, "attributes", it.attributes);
    for (const checkpoint& step : it.checkpoints) {
        json each;
        put(each, "name", step.name);
        put(each, "data", step.data);
        made["checkpoints"].push_back(std::move(each));
    }
    put_time(made, "created_at", it.created_at);
    put_time(made, "begun_at", it.begun_at);
    put_time(made, "updated_at", it.updated_at);
    put_time(made, "retry_after", it.retry_after);
    put_time(made, "expires_at", it.expires_at);
    return made;
}

json to_json(const audit_entry& one) {
    json made{{"at", time_text(one.at)}};
    put(made, "act", one.act);
    put(made, "actor", one.actor);
    put(made, "reason", one.reason);
    made["fence"] = one.fence;
    if (one.from) made["from"] = name(*one.from);
    if (one.to) made["to"] = name(*one.to);
    return made;
}

void print_table(std::ostream& to, const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t at = 0; at < row.size(); ++at) {
            widths[at] = std::max(widths[at], row[at].size());
        }
    }
    for (const auto& row : rows) {
        std::string line;
        for (std::size_t at = 0; at < row.size(); ++at) {
            const bool last = at + 1 == row.size();
            line += last ? row[at] : fmt::format("{:<{}}  ", row[at], widths[at]);
        }
        to << line << '\n';
    }
}

std::vector<std::vector<std::string>> table_of(const std::vector<found_record>& all,
                                               time_point now) {
    std::vector<std::vector<std::string>> rows{
        {"TENANT", "OPERATION", "KEY", "STATE", "AGE", "ATTEMPTS", "REF", "NOW"}};
    for (const found_record& one : all) {
        rows.push_back({cut(printable(one.id.tenant)), cut(printable(one.id.operation)),
                        cut(printable(one.id.key)), std::string{name(one.it.state)},
                        age_text(now - one.it.created_at), std::to_string(one.it.attempts),
                        cut(printable(one.it.result.ref)), condition(one.it, now)});
    }
    return rows;
}

void print_details(std::ostream& to, const found_record& one, const std::vector<audit_entry>& audit,
                   time_point now) {
    json whole = to_json(one, now, result_bodies::included);
    const std::string attributes = take_text(whole, "attributes");
    const std::string body = take_text(whole["result"], "body");
    std::vector<std::vector<std::string>> rows;
    add_rows(rows, "", whole);
    rows.push_back({"now", condition(one.it, now)});
    print_table(to, rows);
    print_text(to, "attributes", attributes);
    print_text(to, "result.body", body);
    for (const checkpoint& step : one.it.checkpoints) {
        to << "checkpoint  " << printable(step.name) << "  " << step.data.size() << " bytes\n";
    }
    for (const audit_entry& each : audit) {
        to << "audit  " << time_text(each.at) << "  " << printable(each.act) << "  by "
           << printable(each.actor) << ": " << printable(each.reason) << '\n';
    }
}

} // namespace semel::app
