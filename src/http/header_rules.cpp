#include "http/header_rules.hpp"

#include <array>

#include "http/text.hpp"
#include "semel/http/response.hpp"

namespace semel::http {
namespace {

constexpr std::array<std::string_view, 14> hop_by_hop = {"Connection",
                                                         "Keep-Alive",
                                                         "Proxy-Connection",
                                                         "Proxy-Authenticate",
                                                         "Proxy-Authorization",
                                                         "Proxy-Authentication-Info",
                                                         "TE",
                                                         "Trailer",
                                                         "Transfer-Encoding",
                                                         "Upgrade",
                                                         "HTTP2-Settings",
                                                         "Expect",
                                                         "Content-Length",
                                                         "Trailers"};

// Of the moment, of one client, or of one request: wrong or dangerous in the answer to another one.
constexpr std::array<std::string_view, 37> momentary = {
    "Age",
    "Authentication-Info",
    "Authorization",
    "Cookie",
    "Cookie2",
    "Date",
    "Idempotency-Expires",
    "Idempotency-Key",
    "Idempotency-Stored",
    "Idempotent-Replayed",
    "Server-Timing",
    "Set-Cookie",
    "Set-Cookie2",
    "Via",
    "WWW-Authenticate",
    "X-Access-Token",
    "X-Amz-Security-Token",
    "X-Api-Key",
    "X-Auth-Token",
    "X-Csrf-Token",
    "X-Xsrf-Token",
    // requests and traces
    "B3",
    "Baggage",
    "CF-Ray",
    "Correlation-Id",
    "Request-Id",
    "Traceparent",
    "Tracestate",
    "Trace-Id",
    "Uber-Trace-Id",
    "X-Amzn-RequestId",
    "X-Amzn-Trace-Id",
    "X-Cloud-Trace-Context",
    "X-Correlation-Id",
    "X-Request-Id",
    "X-Span-Id",
    "X-Trace-Id",
};

constexpr std::array<std::string_view, 4> momentary_prefixes = {"ratelimit", "x-ratelimit",
                                                                "x-rate-limit", "x-b3-"};

constexpr std::array<std::string_view, 20> kept = {
    "Content-Type",
    "Content-Encoding",
    "Content-Language",
    "Content-Location",
    "Content-Disposition",
    "Location",
    "ETag",
    "Last-Modified",
    "Link",
    // who may keep the answer
    "Cache-Control",
    "Vary",
    // what a browser may do with it
    "Content-Security-Policy",
    "Content-Security-Policy-Report-Only",
    "X-Content-Type-Options",
    "X-Frame-Options",
    "Referrer-Policy",
    "Strict-Transport-Security",
    "Cross-Origin-Resource-Policy",
    "Cross-Origin-Opener-Policy",
    "Cross-Origin-Embedder-Policy",
};

// Who may read it, all of one family.
constexpr std::string_view kept_prefix = "access-control-";

bool has_momentary_prefix(std::string_view name) {
    const std::string low = lowered(name);
    for (const std::string_view prefix : momentary_prefixes) {
        if (low.starts_with(prefix)) return true;
    }
    return false;
}

} // namespace

bool is_hop_by_hop(std::string_view name) {
    return is_one_of(name, hop_by_hop);
}

bool connection_names(const std::vector<std::string_view>& connection, std::string_view name) {
    return is_one_of(name, connection);
}

bool never_replayed(std::string_view name) {
    return is_hop_by_hop(name) || is_one_of(name, momentary) || has_momentary_prefix(name);
}

result<void> check(const replay_options& options) {
    for (const std::string& name : options.headers) {
        if (is_token(name) && !never_replayed(name)) continue;
        const std::string why = is_token(name) ? " is never replayed" : " is not a header name";
        return failure{.code = errc::invalid_argument, .detail = "'" + name + "'" + why};
    }
    return {};
}

bool fit_for_wire(const header& line) {
    return is_token(line.name) && is_value(line.value);
}

header_list kept_headers(const header_list& headers, const replay_options& options) {
    const auto connection = list_members(headers, "Connection");
    header_list some;
    for (const header& line : headers) {
        const bool wanted = is_one_of(line.name, kept) ||
                            lowered(line.name).starts_with(kept_prefix) ||
                            (is_one_of(line.name, options.headers) && !never_replayed(line.name));
        if (!wanted || !fit_for_wire(line)) continue;
        if (!connection_names(connection, line.name)) some.add(line.name, line.value);
    }
    return some;
}

void remove_hop_by_hop(header_list& headers) {
    std::vector<std::string> named;
    for (const std::string_view name : list_members(headers, "Connection"))
        named.emplace_back(name);
    headers.remove_if([&](const header& line) {
        return is_hop_by_hop(line.name) || is_one_of(line.name, named);
    });
}

bool is_for_proxies_to_say(std::string_view name) {
    constexpr std::string_view family = "X-Forwarded-";
    constexpr std::array<std::string_view, 16> names = {"Forwarded",
                                                        "X-Real-IP",
                                                        "X-Client-IP",
                                                        "X-Cluster-Client-IP",
                                                        "X-Original-Forwarded-For",
                                                        "X-Remote-IP",
                                                        "X-Remote-Addr",
                                                        "True-Client-IP",
                                                        "CF-Connecting-IP",
                                                        "CF-Connecting-IPv6",
                                                        "Fastly-Client-IP",
                                                        "Front-End-Https",
                                                        "X-Original-URL",
                                                        "X-Original-URI",
                                                        "X-Original-Host",
                                                        "X-Rewrite-URL"};
    if (equal_ignoring_case(name.substr(0, family.size()), family)) return true;
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view one) { return equal_ignoring_case(name, one); });
}

} // namespace semel::http
