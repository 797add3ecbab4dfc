#include "grpc/forwarding.hpp"

#include <algorithm>

#include "grpc/metadata.hpp"
#include "http/text.hpp"
#include "semel/fingerprint.hpp"
#include "semel/grpc/front.hpp"

namespace semel::grpc {
namespace {

bool names_key(const guard_options& rules, std::string_view name) {
    const auto& names = rules.keys.headers;
    return std::any_of(names.begin(), names.end(), [&](const std::string& one) {
        return http::equal_ignoring_case(one, name);
    });
}

// Only the front speaks of the peer, and only one key goes on.
bool is_replaced(const guard_options& rules, const protected_call* call, std::string_view name) {
    if (name == peer_metadata || name == identity_metadata) return true;
    return call != nullptr && names_key(rules, name);
}

std::string key_for(const protected_call& call) {
    using forwarding = http::key_forwarding;
    const forwarding how = call.how->how.forward;
    if (call.key && how == forwarding::same) return call.key->text;
    std::string key = call.what.key;
    if (key.empty() && call.what.content) key = key_from(*call.what.content);
    if (how == forwarding::child) key = derive(key, call.what.operation);
    return http::spell_key(key, http::key_form::lenient);
}

// Without a token of ours, and without what an untrusted caller says about its tenant.
http::header_list metadata_of(const ::grpc::ServerContextBase& from, const guard_options& rules) {
    http::header_list lines = lines_of(from.client_metadata());
    http::drop_own_token(lines, rules.tenants);
    const auto* tenant = std::get_if<http::tenant_header>(&rules.tenants);
    const bool trusted = rules.trust && rules.trust(from) == http::peer_trust::trusted;
    if (tenant != nullptr && !trusted) lines.remove(tenant->name);
    return lines;
}

void forward_peer(::grpc::ClientContext& to, const ::grpc::ServerContextBase& from) {
    to.AddMetadata(peer_metadata, from.peer());
    const auto who = from.auth_context();
    if (who == nullptr || !who->IsPeerAuthenticated()) return;
    for (const auto& identity : who->GetPeerIdentity()) {
        to.AddMetadata(identity_metadata, std::string{view(identity)});
    }
}

} // namespace

void forward_metadata(::grpc::ClientContext& to, const ::grpc::ServerContextBase& from,
                      const guard_options& rules, const protected_call* call) {
    for (const http::header& line : metadata_of(from, rules)) {
        const std::string name = http::lowered(line.name);
        if (is_hop_by_hop(name) || is_replaced(rules, call, name)) continue;
        to.AddMetadata(name, line.value);
    }
    forward_peer(to, from);
    if (call == nullptr || call->how->how.forward == http::key_forwarding::none) return;
    to.AddMetadata(http::lowered(rules.keys.headers.front()), key_for(*call));
}

void return_initial(::grpc::ServerContextBase& to, const ::grpc::ClientContext& from) {
    for (const auto& [name, value] : from.GetServerInitialMetadata()) {
        if (is_hop_by_hop(view(name))) continue;
        to.AddInitialMetadata(std::string{view(name)}, std::string{view(value)});
    }
}

void return_trailing(::grpc::ServerContextBase& to, const ::grpc::ClientContext& from) {
    for (const auto& [name, value] : from.GetServerTrailingMetadata()) {
        if (is_hop_by_hop(view(name))) continue;
        to.AddTrailingMetadata(std::string{view(name)}, std::string{view(value)});
    }
}

} // namespace semel::grpc
