// From a request to what is done with it.
#include <algorithm>
#include <utility>

#include "http/media_type.hpp"
#include "http/path.hpp"
#include "http/principal.hpp"
#include "http/text.hpp"
#include "semel/fingerprint.hpp"
#include "semel/http.hpp"

namespace semel::http {
namespace {

refusal refuse(const gate& by, const route* how, problem what) {
    const profile style = how != nullptr ? how->responses : profile::only_2xx;
    return {to_response(what, by.options().problems, style)};
}

problem problem_of(refused_key&& why) {
    const bool too_long = why.fault == key_fault::too_long;
    return {.kind = too_long ? problem_kind::key_too_long : problem_kind::key_malformed,
            .detail = std::move(why.detail)};
}

refusal refuse(const gate& by, const route& how, problem what) {
    return refuse(by, &how, std::move(what));
}

refusal refuse(const gate& by, const route& how, refused_tenant&& why) {
    refusal no = refuse(by, &how,
                        {.kind = problem_kind::tenant_missing,
                         .status = why.status,
                         .detail = std::move(why.detail)});
    if (!why.challenge.empty()) no.answer.headers.add("WWW-Authenticate", why.challenge);
    return no;
}

refusal refuse_body(const gate& by, const route& how) {
    return refuse(by, &how,
                  {.kind = problem_kind::body_too_large,
                   .detail = "at most " + std::to_string(how.body_bytes_max) + " bytes"});
}

bool announces_too_much(const request_head& head, const route& how) {
    const std::string* text = head.headers.find("Content-Length");
    const auto length = text != nullptr ? to_number(*text) : std::nullopt;
    return length && *length > how.body_bytes_max;
}

overrides wishes_of(const request_head& head, const route& how) {
    const std::optional<duration> wanted = preferred_wait(head.headers);
    if (!wanted || how.wait_limit == duration::zero()) return {};
    if (*wanted == duration::zero()) return {.wait = wait_mode::answer};
    return {.wait = wait_mode::wait, .wait_max = std::min(*wanted, how.wait_limit)};
}

// Of each source by its name, so that a client learns what to send.
refusal refuse_stranger(const gate& by, const route& how) {
    std::string names;
    for (const std::string& one : how.principal) names += (names.empty() ? "" : " or ") + one;
    return refuse(
        by, how,
        problem{.kind = problem_kind::principal_missing,
                .detail = "answers of this operation belong to their principal: send " + names});
}

// The request must be protected: finds its tenant and makes the call.
decision claim(const gate& by, const route& how, const request_head& head, peer_trust peer,
               std::optional<sent_key>&& key) {
    auto tenant = tenant_of(by.options().tenants, head.headers, peer);
    if (auto* no = std::get_if<refused_tenant>(&tenant)) return refuse(by, how, std::move(*no));
    if (announces_too_much(head, how)) return refuse_body(by, how);
    semel::request what{.tenant = std::get<std::string>(std::move(tenant)),
                        .operation = how.operation,
                        .with = wishes_of(head, how)};
    auto principal =
        principal_of(how, what.tenant, head.headers, by.options().principal_secret, peer);
    if (!principal) return refuse_stranger(by, how);
    if (key) what.key = key->key + *principal;
    return protected_call{.within = by,
                          .how = &how,
                          .what = std::move(what),
                          .key = std::move(key),
                          .principal = *std::move(principal)};
}

// A key that a route makes from another request. A client that sends it first would have the other
// request refused as a mismatch. Its own derived key may come from a gateway before this one.
bool takes_derived_key(const protected_call& call) {
    return call.how->need == key_need::derived && is_derived_key(call.key->key) &&
           call.key->key != key_from(*call.what.content);
}

void forward_key(header_list& headers, const protected_call& call) {
    const key_options& keys = call.how->keys;
    for (const std::string& name : keys.headers) headers.remove(name);
    if (call.how->forward == key_forwarding::none) return;
    const std::string& name = call.key ? call.key->header : keys.headers.front();
    if (call.key && call.how->forward == key_forwarding::same) {
        return headers.add(name, call.key->text);
    }
    const bool quoted = call.key && call.key->text.starts_with('"');
    std::string key = call.what.key;
    if (call.how->forward == key_forwarding::child) key = derive(key, call.how->operation);
    headers.add(name, spell_key(key, quoted ? key_form::strict : keys.form));
}

} // namespace

decision admit(const gate& by, const request_head& head, peer_trust peer) {
    const route* how = by.find(head.method, head.path());
    if (how == nullptr) {
        if (decoded_segments(head.path())) return pass_through{};
        return refuse(by, nullptr,
                      {.kind = problem_kind::request_malformed,
                       .detail = "the path holds a malformed escape"});
    }
    key_reading key = read_key(head.headers, how->keys);
    if (auto* no = std::get_if<refused_key>(&key))
        return refuse(by, how, problem_of(std::move(*no)));
    if (auto* sent = std::get_if<sent_key>(&key)) {
        return claim(by, *how, head, peer, std::move(*sent));
    }
    switch (how->need) {
    case key_need::optional: return pass_through{};
    case key_need::required: break;
    case key_need::derived: return claim(by, *how, head, peer, std::nullopt);
    }
    return refuse(by, how,
                  {.kind = problem_kind::key_missing,
                   .detail = "send a unique " + how->keys.headers.front() +
                             " with each new request, and the same one with its repeats"});
}

std::optional<refusal> add_body(protected_call& call, const request_head& head,
                                std::string_view body) {
    if (body.size() > call.how->body_bytes_max) return refuse_body(call.within, *call.how);
    call.what.content = fingerprint_of(head, body, call.how->content);
    if (!call.key) {
        call.what.key = key_from(*call.what.content) + call.principal;
    } else if (takes_derived_key(call)) {
        return refuse(call.within, *call.how, problem{.kind = problem_kind::key_reserved});
    }
    return std::nullopt;
}

decision decide(const gate& by, const request_head& head, std::string_view body, peer_trust peer) {
    decision made = admit(by, head, peer);
    if (auto* call = std::get_if<protected_call>(&made)) {
        if (auto no = add_body(*call, head, body)) return *std::move(no);
    }
    return made;
}

header_list upstream_headers(const request_head& head, const protected_call* call) {
    header_list headers = head.headers;
    remove_hop_by_hop(headers);
    if (call != nullptr) forward_key(headers, *call);
    return headers;
}

std::optional<duration> preferred_wait(const header_list& headers) {
    constexpr std::uint64_t seconds_max = 24UL * 60 * 60;
    for (const std::string_view member : list_members(headers, "Prefer")) {
        // The first of "wait=10; later" is a parameter like the rest.
        const parameterised one = parse_parameterised(";" + std::string{member});
        if (one.parameters.empty() || one.parameters.front().first != "wait") continue;
        const auto seconds = to_number(one.parameters.front().second);
        if (!seconds) return std::nullopt;
        return std::chrono::seconds{std::min(*seconds, seconds_max)};
    }
    return std::nullopt;
}

} // namespace semel::http
