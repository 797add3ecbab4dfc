#include "edge/gateway/forwarding.hpp"

#include <array>
#include <utility>

#include "edge/wire/head_writer.hpp"
#include "semel/http/stored_response.hpp"

namespace semel::edge {
namespace {

constexpr std::string_view own_name = "1.1 semel";

void append_member(http::header_list& headers, const std::string& name, std::string_view member) {
    std::string all;
    for (const http::header& line : headers) {
        if (!http::equal_ignoring_case(line.name, name)) continue;
        all.append(all.empty() ? "" : ", ").append(line.value);
    }
    all.append(all.empty() ? "" : ", ").append(member);
    headers.set(name, std::move(all));
}

bool says_where_it_comes_from(std::string_view name) {
    constexpr std::array<std::string_view, 6> names = {"X-Forwarded-For",  "X-Forwarded-Proto",
                                                       "X-Forwarded-Host", "X-Forwarded-Port",
                                                       "X-Real-IP",        "Forwarded"};
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view one) { return http::equal_ignoring_case(name, one); });
}

void say_where_it_comes_from(http::header_list& headers, const client_facts& client) {
    const bool trusted = client.trust == http::peer_trust::trusted;
    if (!trusted) {
        headers.remove_if([&](const http::header& line) {
            return says_where_it_comes_from(line.name) ||
                   http::equal_ignoring_case(line.name, client.tenant_header);
        });
    }
    append_member(headers, "X-Forwarded-For", client.address);
    if (!headers.contains("X-Forwarded-Proto")) {
        const bool tls = client.transport == client_facts::over::tls;
        headers.add("X-Forwarded-Proto", tls ? "https" : "http");
    }
    const std::string* host = headers.find("Host");
    if (host != nullptr && !headers.contains("X-Forwarded-Host")) {
        headers.add("X-Forwarded-Host", *host);
    }
}

} // namespace

void write_forwarded_head(std::string& to, const upstream_options& upstream,
                          const http::request_head& head, const http::protected_call* call,
                          const client_facts& client, const http::body_framing& framing) {
    http::header_list headers = http::upstream_headers(head, call);
    headers.remove("Expect"); // answered here
    say_where_it_comes_from(headers, client);
    append_member(headers, "Via", own_name);
    if (upstream.host == upstream_options::host_seen::own) {
        headers.set("Host", upstream.url.at.text());
    }
    if (upstream.url.path.empty()) {
        return write_request_head(to, head.method, head.target, headers, framing);
    }
    write_request_head(to, head.method, upstream.url.path + head.target, headers, framing);
}

http::header_list response_headers(http::header_list&& from) {
    http::header_list headers = std::move(from);
    const std::string* length = headers.find("Content-Length");
    std::string kept = length != nullptr ? *length : std::string{};
    http::remove_hop_by_hop(headers);
    if (!kept.empty() && !headers.contains("Content-Length")) {
        headers.add("Content-Length", std::move(kept));
    }
    return headers;
}

} // namespace semel::edge
