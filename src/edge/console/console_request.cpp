#include "edge/console/console_request.hpp"

#include <array>
#include <utility>

#include "edge/api/encoding.hpp"
#include "edge/api/json_reader.hpp"
#include "edge/console/overview.hpp"
#include "edge/console/pages.hpp"
#include "edge/console/query.hpp"
#include "edge/console/record_view.hpp"
#include "http/text.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

std::string cookie_line(const console_core& core, std::string_view id, duration age) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(age).count();
    const bool secure = core.options.cookie == console_options::cookies::secure;
    return std::string{core.cookie_name()} + "=" + std::string{id} +
           "; Path=/; HttpOnly; SameSite=Strict" + (secure ? "; Secure" : "") +
           "; Max-Age=" + std::to_string(seconds);
}

std::string_view role_of(const console_caller& who) {
    if (who.may_act()) return "admin";
    return who.sees_all() ? "operate" : "read";
}

} // namespace

// ---- where it goes

void console_request::run() {
    constexpr std::string_view api = "/admin/api/v1/";
    const std::string_view path = head().path();
    if (path.starts_with(api)) return route(path.substr(api.size()));
    if (!method_is("GET")) return;
    auto page = page_at(head());
    if (!page) return refuse({.kind = problem_kind::not_found});
    send(*std::move(page));
}

void console_request::route(std::string_view path) {
    struct entry {
        std::string_view path;
        void (console_request::*go)();
    };
    static constexpr std::array<entry, 12> all{{
        {"session", &console_request::session},
        {"overview", &console_request::overview},
        {"records", &console_request::records},
        {"record", &console_request::record},
        {"record/resolve", &console_request::resolve},
        {"record/remove", &console_request::remove},
        {"mismatches", &console_request::mismatches},
        {"configuration", &console_request::configuration},
        {"outbox", &console_request::outbox},
        {"outbox/rows", &console_request::outbox_rows},
        {"outbox/row", &console_request::outbox_row_whole},
        {"outbox/requeue", &console_request::requeue},
    }};
    for (const entry& one : all) {
        if (one.path == path) return (this->*one.go)();
    }
    refuse({.kind = problem_kind::not_found});
}

// ---- who is signed in

void console_request::session() {
    if (head().method == "POST") return sign_in();
    if (head().method == "DELETE") return sign_out();
    if (!method_is("GET") || !known()) return;
    send_success(session_json(*who_));
}

void console_request::sign_in() {
    // Otherwise another site could sign a user in as itself and watch what the user types.
    if (head().headers.contains("Origin") && !same_origin(head().headers)) {
        return refuse(
            {.kind = problem_kind::forbidden, .detail = "the request comes from another site"});
    }
    const auto body = read_body(body_type::json);
    if (!body) return;
    json_reader parts{*body};
    const std::string token = parts.text("token").value_or("");
    parts.nothing_else();
    if (parts.fault()) return refuse_malformed(*parts.fault());
    const auto gives = core_->options.grant_of(token);
    if (!gives) {
        note(seen::sign_in_refused);
        return refuse({.kind = problem_kind::tenant_missing,
                       .status = 401,
                       .detail = "the token is not known"});
    }
    who_ = console_caller{{.gives = *gives, .token = fingerprint::raw(token)}};
    if (!gives->may.allows(http::scope::read)) {
        note(seen::sign_in_refused);
        return refuse({.kind = problem_kind::forbidden,
                       .detail = "one of the scopes 'read', 'operate' and 'admin' is needed"});
    }
    auto made = core_->signed_in.open(fingerprint::raw(token), core_->runtime.now());
    note(seen::signed_in);
    json_response said =
        success(session_json({{.gives = *gives, .token = made.it.token}, std::move(made.it)}));
    said.headers.add("Set-Cookie", cookie_line(*core_, made.id, core_->options.sessions.length));
    send(std::move(said));
}

void console_request::sign_out() {
    if (!known()) return;
    if (who_->session && !same_origin(head().headers)) {
        return refuse(
            {.kind = problem_kind::forbidden, .detail = "the request comes from another site"});
    }
    if (const auto id = cookie(head().headers, core_->cookie_name())) core_->signed_in.close(*id);
    note(seen::signed_out);
    json_response said = success({{"outcome", "signed_out"}});
    said.headers.add("Set-Cookie", cookie_line(*core_, "", duration::zero()));
    send(std::move(said));
}

json console_request::session_json(const console_caller& who) const {
    json made = {
        {"tenant", who.gives.tenant}, {"role", role_of(who)}, {"version", core_->options.version}};
    if (!who.session) return made;
    made["csrf"] = who.session->csrf;
    const duration left = who.session->ends_at - core_->runtime.now();
    made["ends_ms"] = std::chrono::floor<std::chrono::milliseconds>(left).count();
    return made;
}

// ---- looking

void console_request::overview() {
    if (!method_is("GET") || !may_see_all()) return;
    const auto asked = read_query({"after"}, query_style::form);
    if (!asked) return;
    const auto after = asked->contains("after") ? http::to_number(asked->at("after")) : 0;
    if (!after) return refuse_malformed("after must be the number of a sample");
    send_success(overview_json(*core_, *after));
}

// Searching blocks, so it is not done on the thread that serves.
void console_request::records() {
    if (!method_is("GET") || !known()) return;
    auto read = read_search(head().query(), core_->store_now());
    if (auto* wrong = std::get_if<std::string>(&read)) return refuse_malformed(std::move(*wrong));
    auto query = std::get<record_query>(std::move(read));
    if (const auto only = who_->only()) {
        if (query.tenant.value_or(*only) != *only) {
            note(seen::scope_refused);
            return refuse({.kind = problem_kind::forbidden,
                           .detail = "this token sees the tenant '" + *only + "' only"});
        }
        query.tenant = only;
    }
    if (!query.cursor.empty()) {
        auto opened = core_->cursors().open(query.cursor, query);
        if (!opened) {
            return refuse_malformed(
                "the cursor is not from a search of this console, or its time is over: "
                "search again");
        }
        query.cursor = *std::move(opened);
    }
    ask([query](console_core& core) { return core.records.search(query); },
        [query](console_request& self, const record_page& got) {
            json lines = json::array();
            const time_point now = self.core_->store_now();
            for (const found_record& one : got.records) lines.push_back(line_json(one, now));
            self.send_success({{"records", std::move(lines)},
                               {"cursor", self.core_->cursors().close(got.cursor, query)},
                               {"now", rfc3339(now)}});
        });
}

void console_request::record() {
    if (!method_is("GET") || !known()) return;
    const auto id = read_id();
    if (!id) return;
    ask([id = *id](console_core& core) { return core.records.call(id, commands::lookup{}); },
        [id = *id](console_request& self, const semel::reply& got) { self.show(id, got); });
}

void console_request::show(const record_id& id, const semel::reply& got) {
    const auto audit = core_->records.audit(id);
    if (!audit) return refuse(audit.error());
    const auto& current = std::get<answers::found>(got.said).current;
    if (current) {
        return send_success(details_json({.id = id,
                                          .it = *current,
                                          .audit = *audit,
                                          .holds = about(id.operation).holds,
                                          .now = got.now}));
    }
    json_response gone = refusal(
        {.kind = problem_kind::not_found, .detail = "there is no such record, or it has expired"},
        core_->options.problems);
    gone.body["audit"] = audit_json(*audit);
    refuse(std::move(gone));
}

void console_request::mismatches() {
    if (!method_is("GET") || !known()) return;
    json lines = json::array();
    const auto only = who_->only();
    const auto& log = core_->options.mismatches;
    for (const auto& one : log ? log->all() : std::vector<mismatch_log::entry>{}) {
        if (only && one.it.id.tenant != *only) continue;
        lines.push_back({{"at", rfc3339(one.at)},
                         {"tenant", one.it.id.tenant},
                         {"operation", one.it.id.operation},
                         {"key", one.it.id.key},
                         {"record", to_query(one.it.id)},
                         {"held", one.it.held.hex()},
                         {"asked", one.it.asked.hex()},
                         {"times", one.times}});
    }
    send_success({{"mismatches", std::move(lines)},
                  {"mismatches_max", log ? log->count_max() : 0},
                  {"started_at", rfc3339(core_->started_at)}});
}

// Addresses and trusted peers: of use to an attacker, and only to users who can change them.
void console_request::configuration() {
    if (!method_is("GET") || !known()) return;
    if (!who_->may_act()) {
        note(seen::scope_refused);
        return refuse({.kind = problem_kind::forbidden,
                       .detail = "the scope 'admin' is needed to see the configuration"});
    }
    send_success({{"toml", core_->options.configuration}});
}

// ---- checks

bool console_request::known() {
    auto who = identify(*core_, head(), peer());
    if (auto* no = std::get_if<json_response>(&who)) {
        refuse(std::move(*no));
        return false;
    }
    who_ = std::get<console_caller>(std::move(who));
    return true;
}

// What is not of one tenant: counters, events.
bool console_request::may_see_all() {
    if (!known()) return false;
    if (who_->sees_all()) return true;
    note(seen::scope_refused);
    refuse({.kind = problem_kind::forbidden,
            .detail = "the scope 'operate' or 'admin' is needed: this is not of one tenant"});
    return false;
}

bool console_request::may_change() {
    if (!method_is("POST") || !known()) return false;
    auto no = refuse_change(*core_, head(), peer(), *who_);
    if (!no) return true;
    refuse(*std::move(no));
    return false;
}

std::optional<record_id> console_request::read_id() {
    auto read = read_record_id(head().query());
    if (auto* wrong = std::get_if<std::string>(&read)) {
        refuse_malformed(std::move(*wrong));
        return std::nullopt;
    }
    auto& id = std::get<record_id>(read);
    const auto only = who_->only();
    if (!only || id.tenant == *only) return std::move(id);
    note(seen::scope_refused);
    refuse({.kind = problem_kind::forbidden,
            .detail = "this token sees the tenant '" + *only + "' only"});
    return std::nullopt;
}

void console_request::note(seen what) const {
    sender_of(*core_, head(), peer()).note(what, who_ ? &*who_ : nullptr);
}

void console_request::refuse(const failure& why) {
    if (why.code == errc::invalid_argument) return refuse_malformed(why.detail);
    refuse(refusal(why, problem_kind::unconfirmed, core_->options.problems));
}

console_operation console_request::about(const std::string& operation) const {
    const auto& all = core_->options.operations;
    const auto found = all.find(operation);
    return found == all.end() ? console_operation{} : found->second;
}

} // namespace semel::edge
