#include "semel/operations.hpp"

#include <cstdio>

namespace semel {
namespace {

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
}

double share_of(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(double share) {
    return number(share * 100) + " %";
}

// Names, links and keys may hold anything.
void append_quoted(std::string& to, std::string_view text) {
    to += '"';
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            to += '\\';
            to += c;
        } else if (byte < 0x20 || byte >= 0x7f) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            to += escaped;
        } else {
            to += c;
        }
    }
    to += '"';
}

void append_member(std::string& to, std::string_view name, std::string_view text) {
    if (text.empty()) return;
    to += ",\"";
    to += name;
    to += "\":";
    append_quoted(to, text);
}

double seconds(duration length) {
    return std::chrono::duration<double>(length).count();
}

} // namespace

std::string_view name(alert_kind kind) {
    static constexpr std::string_view names[]{"stuck", "retry_storm", "mismatches", "store_errors",
                                              "outbox_lag"};
    return names[static_cast<std::size_t>(kind)];
}

std::string to_json(const alert& what) {
    std::string made = "{\"alert\":";
    append_quoted(made, name(what.kind));
    made += ",\"state\":";
    append_quoted(made, what.state == alert_state::firing ? "firing" : "resolved");
    append_member(made, "operation", what.operation);
    made += ",\"count\":" + std::to_string(what.count);
    made += ",\"share\":" + number(what.share);
    made += ",\"oldest_seconds\":" + number(seconds(what.oldest));
    made += ",\"summary\":";
    append_quoted(made, what.summary);
    append_member(made, "tenant", what.tenant);
    append_member(made, "key", what.key);
    append_member(made, "link", what.link);
    return made + "}";
}

std::vector<alert> rate_alerts::look(const traffic& now) {
    const std::uint64_t requests = now.requests - before_.requests;
    const std::uint64_t replayed = now.replayed - before_.replayed;
    const std::uint64_t mismatched = now.mismatched - before_.mismatched;
    const std::uint64_t calls = now.store_calls - before_.store_calls;
    const std::uint64_t failures = now.store_failures - before_.store_failures;
    before_ = now;

    std::vector<alert> made;
    const auto rate = [&](alert_kind kind, std::uint64_t part, std::uint64_t whole, double limit,
                          std::string_view what) {
        const double share = share_of(part, whole);
        judge(made,
              {.kind = kind,
               .count = part,
               .share = share,
               .summary = percent(share) + " of " + std::string{what}},
              whole >= limits_.requests_min && share > limit);
    };
    rate(alert_kind::retry_storm, replayed, requests, limits_.replay_share,
         "requests were repeats");
    rate(alert_kind::mismatches, mismatched, requests, limits_.mismatch_share,
         "requests used a key that belongs to another request");
    rate(alert_kind::store_errors, failures, calls, limits_.store_failure_share,
         "questions were not answered by the store");
    judge(made,
          {.kind = alert_kind::outbox_lag,
           .oldest = now.outbox_lag,
           .summary = "the oldest event waits for " + number(seconds(now.outbox_lag)) + " s"},
          now.outbox_lag > limits_.outbox_lag);
    return made;
}

// Reports changes only.
void rate_alerts::judge(std::vector<alert>& to, alert found, bool over) {
    const auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(found.kind));
    const bool was = (firing_ & bit) != 0;
    if (was == over) return;
    firing_ = static_cast<std::uint8_t>(firing_ ^ bit);
    found.state = over ? alert_state::firing : alert_state::resolved;
    to.push_back(std::move(found));
}

} // namespace semel
