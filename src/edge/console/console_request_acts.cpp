#include <utility>

#include "base/units.hpp"
#include "core/chore.hpp"
#include "edge/api/answer_json.hpp"
#include "edge/api/encoding.hpp"
#include "edge/api/json_reader.hpp"
#include "edge/console/console_request.hpp"
#include "edge/console/query.hpp"
#include "edge/console/record_view.hpp"
#include "edge/console/resolution.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

// A 64-bit number is more than a number holds in a browser.
json row_json(const outbox::row_view& from) {
    const outbox::message& it = from.it;
    return {{"row", std::to_string(it.row)},
            {"status", name(from.status)},
            {"id", it.event.id},
            {"topic", it.event.topic},
            {"key", it.event.key},
            {"shard", it.shard},
            {"attempts", it.attempts},
            {"created_at", rfc3339(it.created_at)},
            {"updated_at", rfc3339(from.updated_at)},
            {"error", from.last_error}};
}

json whole_row_json(const outbox::row_view& from) {
    json made = row_json(from);
    made["payload"] = bytes_json(from.it.event.payload);
    json& headers = made["headers"] = json::array();
    for (const auto& one : from.it.event.headers) headers.push_back({one.name, one.value});
    return made;
}

std::optional<outbox::row_status> status_named(std::string_view word) {
    using outbox::row_status;
    for (const row_status one :
         {row_status::pending, row_status::claimed, row_status::dead, row_status::parked}) {
        if (word == name(one)) return one;
    }
    return std::nullopt;
}

std::optional<std::vector<std::int64_t>> row_numbers(const json& body) {
    constexpr std::size_t rows_max = 1'000;
    const auto at = body.is_object() && body.size() == 1 ? body.find("rows") : body.end();
    if (at == body.end() || !at->is_array() || at->empty() || at->size() > rows_max) return {};
    std::vector<std::int64_t> rows;
    for (const json& one : *at) {
        const auto row = one.is_string() ? parse_count(one.get<std::string>()) : std::nullopt;
        if (!row) return {};
        rows.push_back(*row);
    }
    return rows;
}

} // namespace

// ---- acts on one record

bool console_request::refuses_chore(const record_id& id) {
    if (!is_chore(id)) return false;
    refuse({.kind = problem_kind::forbidden, .detail = std::string{chore_advice}});
    return true;
}

void console_request::resolve() {
    if (!may_change()) return;
    const auto id = read_id();
    const auto body = id ? read_body(body_type::json) : std::nullopt;
    if (!body || refuses_chore(*id)) return;
    auto read = read_resolution(*body, about(id->operation), core_->options.limits);
    if (auto* wrong = std::get_if<std::string>(&read)) return refuse_malformed(std::move(*wrong));
    auto& what = std::get<commands::resolve>(read);
    what.actor = who_->actor();
    settle(*id, std::move(what));
}

void console_request::remove() {
    if (!may_change()) return;
    const auto id = read_id();
    const auto body = id ? read_body(body_type::json) : std::nullopt;
    if (!body || refuses_chore(*id)) return;
    json_reader parts{*body};
    commands::remove what{.actor = who_->actor(), .reason = parts.text("reason").value_or("")};
    if (what.reason.empty() || what.reason.size() > reason_bytes_max) {
        parts.wrong("reason", "must be given: it is what the audit keeps");
    }
    parts.nothing_else();
    if (parts.fault()) return refuse_malformed(*parts.fault());
    settle(*id, std::move(what));
}

void console_request::settle(const record_id& id, command what) {
    const auto answer = [](console_request& self, const semel::reply& got) {
        if (const auto* one = std::get_if<answers::resolved>(&got.said)) {
            return self.send_success(
                {{"outcome", "resolved"}, {"fence", std::to_string(one->fence)}});
        }
        if (std::holds_alternative<answers::removed>(got.said)) {
            return self.send_success({{"outcome", "removed"}});
        }
        if (std::holds_alternative<answers::kept>(got.said)) {
            return self.refuse(
                {.kind = problem_kind::not_found, .detail = "there is no such record any more"});
        }
        // Its owner is running after all, or the record has been settled meanwhile.
        self.refuse(to_json_response(got, self.core_->options.problems));
    };
    ask([id, what = std::move(what)](console_core& core) { return core.records.call(id, what); },
        answer);
}

// ---- the outbox. Events belong to no tenant, so they are for those who may see all tenants.

bool console_request::has_outbox() {
    if (core_->outbox.exists()) return true;
    refuse({.kind = problem_kind::not_found, .detail = "no outbox is configured"});
    return false;
}

void console_request::outbox() {
    if (!method_is("GET") || !may_see_all() || !has_outbox()) return;
    ask_outbox([](outbox::table& on) { return on.measure(); },
               [](console_request& self, const outbox::backlog& got) {
                   const auto oldest =
                       std::chrono::floor<std::chrono::milliseconds>(got.oldest).count();
                   self.send_success({{"waiting", got.waiting},
                                      {"dead", got.dead},
                                      {"count_max", outbox::backlog_count_max},
                                      {"oldest_ms", oldest}});
               });
}

void console_request::outbox_rows() {
    if (!method_is("GET") || !may_see_all() || !has_outbox()) return;
    auto asked = read_query({"status", "topic", "after"}, query_style::form);
    if (!asked) return;
    const auto after = asked->contains("after") ? parse_count((*asked)["after"]) : 0;
    if (!after) return refuse_malformed("after must be the number of a row");
    outbox::row_query query{.topic = (*asked)["topic"], .after = *after};
    if (const auto status = take(*asked, "status")) {
        query.status = status_named(*status);
        if (!query.status) {
            return refuse_malformed("a status is pending, claimed, dead or parked");
        }
    }
    ask_outbox(
        [query](outbox::table& on) { return on.list(query); },
        [most = query.rows_max](console_request& self, const std::vector<outbox::row_view>& got) {
            json rows = json::array();
            for (const outbox::row_view& one : got) rows.push_back(row_json(one));
            const bool more = got.size() == most;
            self.send_success({{"rows", std::move(rows)},
                               {"after", more ? std::to_string(got.back().it.row) : ""}});
        });
}

void console_request::outbox_row_whole() {
    if (!method_is("GET") || !may_see_all() || !has_outbox()) return;
    auto asked = read_query({"row"}, query_style::form);
    if (!asked) return;
    const auto row = parse_count((*asked)["row"]);
    if (!row) return refuse_malformed("row must be the number of a row");
    ask_outbox([row = *row](outbox::table& on) { return on.show(row); },
               [](console_request& self, const std::optional<outbox::row_view>& got) {
                   if (got) return self.send_success(whole_row_json(*got));
                   self.refuse({.kind = problem_kind::not_found,
                                .detail = "there is no such row any more"});
               });
}

void console_request::requeue() {
    if (!may_change() || !has_outbox()) return;
    const auto body = read_body(body_type::json);
    if (!body) return;
    const auto rows = row_numbers(*body);
    if (!rows) return refuse_malformed("rows must be an array of 1 to 1000 numbers, as texts");
    ask_outbox([rows = *rows](outbox::table& on) { return on.requeue(rows); },
               [](console_request& self, std::size_t count) {
                   self.send_success({{"outcome", "requeued"}, {"count", count}});
               });
}

} // namespace semel::edge
