#include "edge/console/query.hpp"

#include <algorithm>
#include <array>

#include "base/hex.hpp"
#include "base/units.hpp"
#include "edge/api/query.hpp"

namespace semel::edge {
namespace {

constexpr std::array states = {record_state::processing, record_state::succeeded,
                               record_state::failed_retryable, record_state::failed_final};

// What is wrong, or nothing.
using fault = std::optional<std::string>;

fault read_states(parameters& from, record_query& to) {
    const auto text = take(from, "state");
    if (!text) return {};
    std::string_view rest = *text;
    while (!rest.empty()) {
        const std::string_view one = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
        const auto* const found = std::find_if(states.begin(), states.end(),
                                               [&](record_state is) { return name(is) == one; });
        if (found == states.end()) {
            return "state must be processing, succeeded, failed_retryable or failed_final";
        }
        to.states.push_back(*found);
    }
    return {};
}

fault read_time(parameters& from, std::string_view name, std::optional<duration>& to) {
    const auto text = take(from, name);
    if (!text) return {};
    to = parse_duration(*text);
    if (to) return {};
    return std::string{name} + " must be a duration such as 30s, 5m, 2h or 7d";
}

fault read_ages(parameters& from, record_query& to, time_point now) {
    std::optional<duration> older;
    std::optional<duration> newer;
    if (auto wrong = read_time(from, "older", older)) return wrong;
    if (auto wrong = read_time(from, "newer", newer)) return wrong;
    if (older) to.created_until = now - *older;
    if (newer) to.created_from = now - *newer;
    return read_time(from, "lapsed_for", to.stuck_for);
}

fault read_limit(parameters& from, record_query& to) {
    const auto text = take(from, "limit");
    if (!text) return {};
    const auto number = parse_count(*text);
    if (!number || *number < 1 || *number > 1'000) return "limit must be a number from 1 to 1000";
    to.records_max = static_cast<std::size_t>(*number);
    return {};
}

} // namespace

std::variant<record_query, std::string> read_search(std::string_view query, time_point now) {
    auto read = read_parameters(query,
                                {"tenant", "operation", "key", "state", "result_ref", "older",
                                 "newer", "lapsed_for", "cursor", "limit"},
                                query_style::form);
    if (auto* wrong = std::get_if<std::string>(&read)) return std::move(*wrong);
    auto& all = std::get<parameters>(read);
    record_query made{.tenant = take(all, "tenant"),
                      .operation = take(all, "operation"),
                      .key = take(all, "key"),
                      .result_ref = take(all, "result_ref"),
                      .records_max = 50,
                      .cursor = take(all, "cursor").value_or("")};
    if (auto wrong = read_states(all, made)) return *std::move(wrong);
    if (auto wrong = read_ages(all, made, now)) return *std::move(wrong);
    if (auto wrong = read_limit(all, made)) return *std::move(wrong);
    if (auto fine = check(made); !fine) return fine.error().detail;
    return made;
}

std::variant<record_id, std::string> read_record_id(std::string_view query) {
    auto read = read_parameters(query, {"tenant", "operation", "key"}, query_style::form);
    if (auto* wrong = std::get_if<std::string>(&read)) return std::move(*wrong);
    auto& all = std::get<parameters>(read);
    if (all.size() != 3) return "tenant, operation and key must be given";
    const limits most;
    record_id made{.tenant = *take(all, "tenant"),
                   .operation = *take(all, "operation"),
                   .key = *take(all, "key")};
    const bool fits = made.tenant.size() <= most.tenant_bytes_max &&
                      made.operation.size() <= most.operation_bytes_max &&
                      made.key.size() <= most.key_bytes_max;
    if (!fits) return "tenant, operation or key is too long";
    return made;
}

std::string to_query(const record_id& id) {
    return "tenant=" + percent_escaped(id.tenant) + "&operation=" + percent_escaped(id.operation) +
           "&key=" + percent_escaped(id.key);
}

} // namespace semel::edge
