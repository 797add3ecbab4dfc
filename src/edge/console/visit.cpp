#include "edge/console/visit.hpp"

#include <array>
#include <utility>

#include "edge/center/members.hpp"
#include "edge/center/text.hpp"
#include "edge/console/overview.hpp"
#include "edge/console/pages.hpp"
#include "edge/console/query.hpp"
#include "edge/console/record_view.hpp"
#include "http/bounded_json.hpp"
#include "http/media_type.hpp"
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

bool is_json(const http::header_list& headers) {
    const std::string* const type = headers.find("Content-Type");
    return type != nullptr &&
           http::kind_of(http::lowered(http::parse_parameterised(*type).value)) ==
               http::body_kind::json;
}

} // namespace

// ---- where it goes

void console_visit::run() {
    constexpr std::string_view api = "/admin/api/v1/";
    const std::string_view path = head().path();
    if (path.starts_with(api)) return route(path.substr(api.size()));
    if (!method_is("GET")) return;
    auto page = page_at(head());
    if (!page) return refuse({.kind = problem_kind::not_found});
    answer_(*std::move(page));
}

void console_visit::route(std::string_view path) {
    struct entry {
        std::string_view path;
        void (console_visit::*go)();
    };
    static constexpr std::array<entry, 12> all{{
        {"session", &console_visit::session},
        {"overview", &console_visit::overview},
        {"records", &console_visit::records},
        {"record", &console_visit::record},
        {"record/resolve", &console_visit::resolve},
        {"record/remove", &console_visit::remove},
        {"mismatches", &console_visit::mismatches},
        {"configuration", &console_visit::configuration},
        {"outbox", &console_visit::outbox},
        {"outbox/rows", &console_visit::outbox_rows},
        {"outbox/row", &console_visit::outbox_row_whole},
        {"outbox/requeue", &console_visit::requeue},
    }};
    for (const entry& one : all) {
        if (one.path == path) return (this->*one.go)();
    }
    refuse({.kind = problem_kind::not_found});
}

// ---- who is signed in

void console_visit::session() {
    if (head().method == "POST") return sign_in();
    if (head().method == "DELETE") return sign_out();
    if (!method_is("GET") || !known()) return;
    tell(session_json(*who_));
}

void console_visit::sign_in() {
    // Otherwise another site could sign a user in as itself and watch what the user types.
    if (head().headers.contains("Origin") && !same_origin(head().headers)) {
        return refuse(
            {.kind = problem_kind::forbidden, .detail = "the request comes from another site"});
    }
    const auto body = read_body();
    if (!body) return;
    members parts{*body};
    const std::string token = parts.text("token").value_or("");
    parts.nothing_else();
    if (parts.fault()) return malformed(*parts.fault());
    const auto gives = core_->options.grant_of(token);
    if (!gives) {
        note(seen::sign_in_refused);
        return refuse({.kind = problem_kind::tenant_missing,
                       .status = 401,
                       .detail = "the token is not known"});
    }
    who_ = console_caller{.gives = *gives, .token = fingerprint::raw(token)};
    if (!gives->may.allows(http::scope::read)) {
        note(seen::sign_in_refused);
        return refuse({.kind = problem_kind::forbidden,
                       .detail = "one of the scopes 'read', 'operate' and 'admin' is needed"});
    }
    auto made = core_->signed_in.open(fingerprint::raw(token), core_->runtime.now());
    note(seen::signed_in);
    told said = outcome(
        session_json({.gives = *gives, .token = made.it.token, .session = std::move(made.it)}));
    said.headers.add("Set-Cookie", cookie_line(*core_, made.id, core_->options.sessions.length));
    refuse(std::move(said));
}

void console_visit::sign_out() {
    if (!known()) return;
    if (who_->session && !same_origin(head().headers)) {
        return refuse(
            {.kind = problem_kind::forbidden, .detail = "the request comes from another site"});
    }
    if (const auto id = cookie(head().headers, core_->cookie_name())) core_->signed_in.close(*id);
    note(seen::signed_out);
    told said = outcome({{"outcome", "signed_out"}});
    said.headers.add("Set-Cookie", cookie_line(*core_, "", duration::zero()));
    refuse(std::move(said));
}

json console_visit::session_json(const console_caller& who) const {
    json made = {
        {"tenant", who.gives.tenant}, {"role", role_of(who)}, {"version", core_->options.version}};
    if (!who.session) return made;
    made["csrf"] = who.session->csrf;
    const duration left = who.session->ends_at - core_->runtime.now();
    made["ends_ms"] = std::chrono::floor<std::chrono::milliseconds>(left).count();
    return made;
}

// ---- looking

void console_visit::overview() {
    if (!method_is("GET") || !may_see_all()) return;
    auto read = read_parameters(head().query(), {"after"});
    if (auto* wrong = std::get_if<std::string>(&read)) return malformed(std::move(*wrong));
    const auto& asked = std::get<parameters>(read);
    const auto after = asked.contains("after") ? http::to_number(asked.at("after")) : 0;
    if (!after) return malformed("after must be the number of a sample");
    tell(overview_json(*core_, *after));
}

// Searching blocks, so it is not done on the thread that serves.
void console_visit::records() {
    if (!method_is("GET") || !known()) return;
    auto read = read_search(head().query(), core_->store_now());
    if (auto* wrong = std::get_if<std::string>(&read)) return malformed(std::move(*wrong));
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
            return malformed(
                "the cursor is not from a search of this console, or its time is over: "
                "search again");
        }
        query.cursor = *std::move(opened);
    }
    core_->chore(
        [self = std::make_shared<console_visit>(std::move(*this)), query = std::move(query)] {
            const auto got = self->core_->records.search(query);
            if (!got) return self->unavailable(got.error());
            json lines = json::array();
            const time_point now = self->core_->store_now();
            for (const found_record& one : got->records) lines.push_back(line_json(one, now));
            self->tell({{"records", std::move(lines)},
                        {"cursor", self->core_->cursors().close(got->cursor, query)},
                        {"now", rfc3339(now)}});
        });
}

void console_visit::record() {
    if (!method_is("GET") || !known()) return;
    auto id = read_id();
    if (!id) return;
    core_->chore([self = std::make_shared<console_visit>(std::move(*this)), id = *std::move(id)] {
        auto got = self->core_->records.call(id, commands::lookup{});
        if (!got) return self->unavailable(got.error());
        const auto audit = self->core_->records.audit(id);
        if (!audit) return self->unavailable(audit.error());
        const auto& current = std::get<answers::found>(got->said).current;
        if (current) {
            return self->tell(details_json({.id = id,
                                            .it = *current,
                                            .audit = *audit,
                                            .holds = self->about(id.operation).holds,
                                            .now = got->now}));
        }
        told gone = trouble({.kind = problem_kind::not_found,
                             .detail = "there is no such record, or it has expired"},
                            self->core_->options.problems);
        gone.body["audit"] = audit_json(*audit);
        self->refuse(std::move(gone));
    });
}

void console_visit::mismatches() {
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
    tell({{"mismatches", std::move(lines)},
          {"mismatches_max", log ? log->count_max() : 0},
          {"started_at", rfc3339(core_->started_at)}});
}

// Addresses and trusted peers: of use to an attacker, and only to users who can change them.
void console_visit::configuration() {
    if (!method_is("GET") || !known()) return;
    if (!who_->may_act()) {
        note(seen::scope_refused);
        return refuse({.kind = problem_kind::forbidden,
                       .detail = "the scope 'admin' is needed to see the configuration"});
    }
    tell({{"toml", core_->options.configuration}});
}

// ---- checks

bool console_visit::method_is(std::string_view needed) {
    if (head().method == needed) return true;
    told made = trouble({.kind = problem_kind::request_malformed,
                         .status = 405,
                         .detail = "this path takes " + std::string{needed} + " only"},
                        core_->options.problems);
    made.headers.add("Allow", std::string{needed});
    refuse(std::move(made));
    return false;
}

bool console_visit::known() {
    auto who = identify(*core_, head(), request_.peer);
    if (auto* no = std::get_if<told>(&who)) {
        refuse(std::move(*no));
        return false;
    }
    who_ = std::get<console_caller>(std::move(who));
    return true;
}

// What is not of one tenant: counters, events.
bool console_visit::may_see_all() {
    if (!known()) return false;
    if (who_->sees_all()) return true;
    note(seen::scope_refused);
    refuse({.kind = problem_kind::forbidden,
            .detail = "the scope 'operate' or 'admin' is needed: this is not of one tenant"});
    return false;
}

bool console_visit::may_change() {
    if (!method_is("POST") || !known()) return false;
    auto no = refuse_change(*core_, head(), request_.peer, *who_);
    if (!no) return true;
    refuse(*std::move(no));
    return false;
}

std::optional<record_id> console_visit::read_id() {
    auto read = read_record_id(head().query());
    if (auto* wrong = std::get_if<std::string>(&read)) {
        malformed(std::move(*wrong));
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

std::optional<json> console_visit::read_body() {
    // A form of another site cannot send this type without asking first.
    if (!is_json(head().headers)) {
        refuse({.kind = problem_kind::request_malformed,
                .status = 415,
                .detail = "the body must be application/json"});
        return std::nullopt;
    }
    json body = http::parse_bounded(request_.what.body);
    if (!body.is_discarded()) return body;
    malformed("the body is not JSON, nested too deeply, or holds too many values");
    return std::nullopt;
}

void console_visit::note(seen what) const {
    edge::note(*core_, what, head(), request_.peer, who_ ? &*who_ : nullptr);
}

void console_visit::refuse(const http::problem& why) {
    refuse(trouble(why, core_->options.problems));
}

void console_visit::malformed(std::string why) {
    refuse({.kind = problem_kind::request_malformed, .detail = std::move(why)});
}

void console_visit::unavailable(const failure& why) {
    if (why.code == errc::invalid_argument) return malformed(why.detail);
    refuse(edge::tell(why, problem_kind::unconfirmed, core_->options.problems));
}

console_operation console_visit::about(const std::string& operation) const {
    const auto& all = core_->options.operations;
    const auto found = all.find(operation);
    return found == all.end() ? console_operation{} : found->second;
}

} // namespace semel::edge
