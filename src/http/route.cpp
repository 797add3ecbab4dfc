#include "semel/http/route.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "http/header_rules.hpp"
#include "http/path.hpp"
#include "http/principal.hpp"
#include "http/text.hpp"
#include "semel/http.hpp"

namespace semel::http {

struct gate::rules {
    gate_options options;
    std::vector<std::vector<std::string>> patterns; // of options.routes
};

namespace {

using complaint = std::string; // empty: none

bool all_tokens(const std::vector<std::string>& names) {
    return std::all_of(names.begin(), names.end(), [](const auto& name) { return is_token(name); });
}

complaint check_path(const std::string& path) {
    if (!path.starts_with('/')) return "its path must begin with a slash";
    if (path.find_first_of("?#% ") != std::string::npos) {
        return "its path must be plain: no '?', '#', '%' or blanks";
    }
    const auto segments = pattern_segments(path);
    const auto rest = std::find(segments.begin(), segments.end(), "**");
    if (rest != segments.end() && rest + 1 != segments.end()) return "'**' must come last";
    return {};
}

complaint check_keys(const key_options& keys, const limits& within) {
    if (keys.headers.empty() || !all_tokens(keys.headers)) return "its key header has no name";
    if (keys.bytes_min > keys.bytes_max) return "its keys must be longer than they may be";
    if (keys.bytes_max > within.key_bytes_max) return "its keys may be longer than the store takes";
    return {};
}

// In the key of the record: the key as sent stays readable in front of it.
void leave_room_for_principal(key_options& keys, const limits& within) {
    keys.bytes_max = std::min(keys.bytes_max, within.key_bytes_max - principal_bytes);
}

complaint check_statuses(const std::vector<status_rule>& rules) {
    const bool fine = std::all_of(rules.begin(), rules.end(), [](const status_rule& rule) {
        return rule.first >= 200 && rule.first <= rule.last && rule.last <= 599;
    });
    return fine ? "" : "its statuses must lie between 200 and 599";
}

complaint check_route(const route& one, const gate_options& all) {
    const limits& within = all.limits;
    if (one.operation.empty()) return "it has no operation";
    if (one.operation.size() > within.operation_bytes_max) return "its operation is too long";
    if (one.methods.empty() || !all_tokens(one.methods)) return "it has no methods";
    if (!all_tokens(one.content.headers)) return "a header that should count has no name";
    if (one.wait_limit < duration::zero()) return "its wait_limit is negative";
    if (auto why = check_path(one.path); !why.empty()) return why;
    if (auto why = check_keys(one.keys, within); !why.empty()) return why;
    if (auto why = check_statuses(one.statuses); !why.empty()) return why;
    if (auto fine = check(one.replay); !fine) return fine.error().detail;
    return check_principal(one, all);
}

failure wrong(const route& one, const complaint& why) {
    return {.code = errc::invalid_argument,
            .detail = "route '" + one.operation + "' (" + one.path + "): " + why};
}

} // namespace

result<gate> gate::make(gate_options options) {
    if (auto fine = check(options.tenants); !fine) return fine.error();
    std::vector<std::vector<std::string>> patterns;
    std::set<std::string_view> operations;
    for (route& one : options.routes) {
        if (auto why = check_route(one, options); !why.empty()) return wrong(one, why);
        if (!operations.insert(one.operation).second) {
            return wrong(one, "its operation is another route's too; their keys would meet");
        }
        patterns.push_back(pattern_segments(one.path));
        if (names_principal(one)) leave_room_for_principal(one.keys, options.limits);
    }
    return gate{std::make_shared<const rules>(
        rules{.options = std::move(options), .patterns = std::move(patterns)})};
}

const route* gate::find(std::string_view method, std::string_view path) const {
    const auto segments = decoded_segments(path);
    if (!segments) return nullptr;
    const auto plain = without_parameters(path);
    const std::vector<route>& routes = rules_->options.routes;
    for (std::size_t i = 0; i < routes.size(); ++i) {
        // Methods have a case, but there are services that take "post" for POST.
        if (!is_one_of(method, routes[i].methods)) continue;
        const auto& pattern = rules_->patterns[i];
        if (fits(pattern, *segments) || (plain && fits(pattern, *plain))) return &routes[i];
    }
    return nullptr;
}

const gate_options& gate::options() const {
    return rules_->options;
}

std::map<std::string, operation_policy> gate::operations() const {
    std::map<std::string, operation_policy> policies;
    for (const route& one : options().routes) {
        operation_policy policy = one.policy;
        policy.failures.insert(policy.failures.begin(),
                               when<response_released>(exception_class::release));
        policies.emplace(one.operation, std::move(policy));
    }
    return policies;
}

} // namespace semel::http
