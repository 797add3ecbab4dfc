#include "edge/gateway/forwarding.hpp"

#include <utility>

#include "http/header_rules.hpp"
#include "net/http1/writer.hpp"
#include "semel/http/response.hpp"

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

bool is_one_of(std::string_view name, std::span<const std::string> names) {
    return std::any_of(names.begin(), names.end(), [&](const std::string& one) {
        return http::equal_ignoring_case(name, one);
    });
}

// CGI and WSGI read X_User as X-User.
bool may_be_read_as_another(const http::header& line, const client_facts& client) {
    return line.name.find('_') != std::string::npos && !is_one_of(line.name, client.vital);
}

std::string_view tenant_header_of(const client_facts& client) {
    const auto* header =
        client.tenants == nullptr ? nullptr : std::get_if<http::tenant_header>(client.tenants);
    return header == nullptr ? std::string_view{} : std::string_view{header->name};
}

void drop_what_is_not_a_clients(http::header_list& headers, const upstream_options& upstream,
                                const client_facts& client) {
    const std::string_view tenant = tenant_header_of(client);
    const bool drops = upstream.underscores == upstream_options::names_with_underscores::drop;
    headers.remove_if([&](const http::header& line) {
        return http::is_for_proxies_to_say(line.name) ||
               http::equal_ignoring_case(line.name, tenant) ||
               (drops && may_be_read_as_another(line, client));
    });
}

void say_where_it_comes_from(http::header_list& headers, const client_facts& client) {
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
    if (client.tenants != nullptr) http::drop_own_token(headers, *client.tenants);
    if (client.trust != http::peer_trust::trusted) {
        drop_what_is_not_a_clients(headers, upstream, client);
    }
    say_where_it_comes_from(headers, client);
    append_member(headers, "Via", own_name);
    if (upstream.host == upstream_options::host_seen::own) {
        headers.set("Host", upstream.url.at.text());
    }
    if (upstream.url.path.empty()) {
        return http1::write_request_head(to, head.method, head.target, headers, framing);
    }
    http1::write_request_head(to, head.method, upstream.url.path + head.target, headers, framing);
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
