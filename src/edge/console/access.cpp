#include "edge/console/access.hpp"

#include "http/text.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

json_response no(const console_core& core, problem_kind kind, int status, std::string why) {
    return refusal({.kind = kind, .status = status, .detail = std::move(why)},
                   core.options.problems);
}

json_response not_signed_in(const console_core& core, std::string why) {
    json_response made = no(core, problem_kind::tenant_missing, 401, std::move(why));
    made.headers.add("WWW-Authenticate", "Bearer");
    return made;
}

std::variant<console_caller, json_response> by_bearer(const console_core& core,
                                                      std::string_view token) {
    auto gives = core.options.grant_of(token);
    if (!gives) return not_signed_in(core, "the token is not known");
    return console_caller{{.gives = *std::move(gives), .token = fingerprint::raw(token)}};
}

std::variant<console_caller, json_response> by_cookie(console_core& core,
                                                      const http::header_list& headers) {
    const auto id = cookie(headers, core.cookie_name());
    if (!id) return not_signed_in(core, "sign in, or send a bearer token");
    auto session = core.signed_in.find(*id, core.runtime.now());
    if (!session) return not_signed_in(core, "the session has ended; sign in again");
    auto gives = core.options.grant_of_hash(session->token);
    if (!gives) return not_signed_in(core, "the token of this session has been revoked");
    return console_caller{{.gives = *std::move(gives), .token = session->token},
                          std::move(session)};
}

} // namespace

std::optional<std::string_view> cookie(const http::header_list& headers, std::string_view name) {
    std::optional<std::string_view> found;
    for (const http::header& line : headers) {
        if (!http::equal_ignoring_case(line.name, "Cookie")) continue;
        std::string_view rest = line.value;
        while (!rest.empty()) {
            const std::string_view one = http::trimmed(rest.substr(0, rest.find(';')));
            const auto end = rest.find(';');
            rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
            if (!one.starts_with(name) || one.substr(name.size(), 1) != "=") continue;
            if (found) return std::nullopt;
            found = one.substr(name.size() + 1);
        }
    }
    return found;
}

bool same_origin(const http::header_list& headers) {
    const std::string* const origin = headers.find("Origin");
    const std::string* const host = headers.find("Host");
    if (origin == nullptr || host == nullptr || headers.count("Origin") != 1) return false;
    // The scheme is not compared: something in front of this listener may have taken TLS off.
    std::string_view from = *origin;
    for (const std::string_view scheme : {"http://", "https://"}) {
        if (from.starts_with(scheme)) {
            return http::equal_ignoring_case(from.substr(scheme.size()), *host);
        }
    }
    return false;
}

api_sender sender_of(const console_core& core, const http::request_head& head,
                     std::string_view peer) {
    return {"console", core.options.watch, head, peer};
}

std::variant<console_caller, json_response>
identify(console_core& core, const http::request_head& head, std::string_view peer) {
    const auto token = http::bearer_token(head.headers);
    auto who = token ? by_bearer(core, *token) : by_cookie(core, head.headers);
    const auto* const found = std::get_if<console_caller>(&who);
    if (found == nullptr) {
        const bool tried = token || head.headers.contains("Cookie");
        if (tried) sender_of(core, head, peer).note(security_event::kind::token_refused, nullptr);
    } else if (!found->gives.may.allows(http::scope::read)) {
        sender_of(core, head, peer).note(security_event::kind::scope_refused, found);
        return no(core, problem_kind::forbidden, 403,
                  "one of the scopes 'read', 'operate' and 'admin' is needed");
    }
    return who;
}

std::optional<json_response> refuse_change(const console_core& core, const http::request_head& head,
                                           std::string_view peer, const console_caller& who) {
    if (!who.may_act()) {
        sender_of(core, head, peer).note(security_event::kind::scope_refused, &who);
        return no(core, problem_kind::forbidden, 403, "the scope 'admin' is needed to change this");
    }
    // A browser sends a cookie with every site's request; a bearer token is sent by its holder.
    if (!who.session) return std::nullopt;
    const std::string* const proof = head.headers.find(csrf_header);
    const bool ours = same_origin(head.headers);
    if (ours && proof != nullptr && equal_secrets(*proof, who.session->csrf)) return std::nullopt;
    sender_of(core, head, peer).note(security_event::kind::site_refused, &who);
    if (!ours) return no(core, problem_kind::forbidden, 403, "the request comes from another site");
    return no(core, problem_kind::forbidden, 403,
              std::string{csrf_header} + " is missing or not this session's");
}

} // namespace semel::edge
