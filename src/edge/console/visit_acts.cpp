#include <utility>

#include "base/units.hpp"
#include "core/chore.hpp"
#include "edge/center/members.hpp"
#include "edge/center/text.hpp"
#include "edge/console/query.hpp"
#include "edge/console/record_view.hpp"
#include "edge/console/resolution.hpp"
#include "edge/console/visit.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

// A 64-bit number is more than a number holds in a browser.
json row_json(const outbox_row& from) {
    const outbox::message& it = from.it;
    return {{"row", std::to_string(it.row)},
            {"status", from.status},
            {"id", it.event.id},
            {"topic", it.event.topic},
            {"key", it.event.key},
            {"shard", it.shard},
            {"attempts", it.attempts},
            {"created_at", rfc3339(it.created_at)},
            {"updated_at", rfc3339(from.updated_at)},
            {"error", from.error}};
}

json whole_row_json(const outbox_row& from) {
    json made = row_json(from);
    made["payload"] = bytes_json(from.it.event.payload);
    json& headers = made["headers"] = json::array();
    for (const auto& one : from.it.event.headers) headers.push_back({one.name, one.value});
    return made;
}

std::optional<std::int64_t> row_number(const std::string& text) {
    return parse_count(text);
}

std::optional<std::vector<std::int64_t>> row_numbers(const json& body) {
    constexpr std::size_t rows_max = 1'000;
    const auto at = body.is_object() && body.size() == 1 ? body.find("rows") : body.end();
    if (at == body.end() || !at->is_array() || at->empty() || at->size() > rows_max) return {};
    std::vector<std::int64_t> rows;
    for (const json& one : *at) {
        const auto row = one.is_string() ? row_number(one.get<std::string>()) : std::nullopt;
        if (!row) return {};
        rows.push_back(*row);
    }
    return rows;
}

} // namespace

// ---- acts on one record

bool console_visit::refuses_chore(const record_id& id) {
    if (!is_chore(id)) return false;
    refuse({.kind = problem_kind::forbidden, .detail = std::string{chore_advice}});
    return true;
}

void console_visit::resolve() {
    if (!may_change()) return;
    const auto id = read_id();
    const auto body = id ? read_body() : std::nullopt;
    if (!body || refuses_chore(*id)) return;
    auto read = read_resolution(*body, about(id->operation), core_->options.limits);
    if (auto* wrong = std::get_if<std::string>(&read)) return malformed(std::move(*wrong));
    auto& what = std::get<commands::resolve>(read);
    what.actor = who_->actor();
    send(*id, std::move(what));
}

void console_visit::remove() {
    if (!may_change()) return;
    const auto id = read_id();
    const auto body = id ? read_body() : std::nullopt;
    if (!body || refuses_chore(*id)) return;
    members parts{*body};
    commands::remove what{.actor = who_->actor(), .reason = parts.text("reason").value_or("")};
    if (what.reason.empty() || what.reason.size() > reason_bytes_max) {
        parts.wrong("reason", "must be given: it is what the audit keeps");
    }
    parts.nothing_else();
    if (parts.fault()) return malformed(*parts.fault());
    send(*id, std::move(what));
}

void console_visit::send(const record_id& id, command what) {
    core_->chore([self = std::make_shared<console_visit>(std::move(*this)), id,
                  what = std::move(what)]() mutable {
        auto got = self->core_->records.call(id, std::move(what));
        if (!got) return self->unavailable(got.error());
        if (const auto* one = std::get_if<answers::resolved>(&got->said)) {
            return self->tell({{"outcome", "resolved"}, {"fence", std::to_string(one->fence)}});
        }
        if (std::holds_alternative<answers::removed>(got->said)) {
            return self->tell({{"outcome", "removed"}});
        }
        if (std::holds_alternative<answers::kept>(got->said)) {
            return self->refuse(
                {.kind = problem_kind::not_found, .detail = "there is no such record any more"});
        }
        // Its owner is running after all, or the record has been settled meanwhile.
        self->refuse(edge::tell(*std::move(got), self->core_->options.problems));
    });
}

// ---- the outbox. Events belong to no tenant, so they are for those who may see all tenants.

bool console_visit::has_outbox() {
    if (core_->options.outbox != nullptr) return true;
    refuse({.kind = problem_kind::not_found, .detail = "no outbox is configured"});
    return false;
}

void console_visit::outbox() {
    if (!method_is("GET") || !may_see_all() || !has_outbox()) return;
    core_->chore([self = std::make_shared<console_visit>(std::move(*this))] {
        const auto got = self->core_->options.outbox->measure();
        if (!got) return self->unavailable(got.error());
        const auto oldest = std::chrono::floor<std::chrono::milliseconds>(got->oldest).count();
        self->tell({{"waiting", got->waiting},
                    {"dead", got->dead},
                    {"count_max", got->count_max},
                    {"oldest_ms", oldest}});
    });
}

void console_visit::outbox_rows() {
    if (!method_is("GET") || !may_see_all() || !has_outbox()) return;
    auto read = read_parameters(head().query(), {"status", "topic", "after"});
    if (auto* wrong = std::get_if<std::string>(&read)) return malformed(std::move(*wrong));
    auto& asked = std::get<parameters>(read);
    const auto after = asked.contains("after") ? row_number(asked["after"]) : 0;
    if (!after) return malformed("after must be the number of a row");
    outbox_query query{.status = asked["status"], .topic = asked["topic"], .after = *after};
    core_->chore(
        [self = std::make_shared<console_visit>(std::move(*this)), query = std::move(query)] {
            const auto got = self->core_->options.outbox->list(query);
            if (!got) return self->unavailable(got.error());
            json rows = json::array();
            for (const outbox_row& one : *got) rows.push_back(row_json(one));
            const bool more = got->size() == query.rows_max;
            self->tell({{"rows", std::move(rows)},
                        {"after", more ? std::to_string(got->back().it.row) : ""}});
        });
}

void console_visit::outbox_row_whole() {
    if (!method_is("GET") || !may_see_all() || !has_outbox()) return;
    auto read = read_parameters(head().query(), {"row"});
    if (auto* wrong = std::get_if<std::string>(&read)) return malformed(std::move(*wrong));
    const auto row = row_number(std::get<parameters>(read)["row"]);
    if (!row) return malformed("row must be the number of a row");
    core_->chore([self = std::make_shared<console_visit>(std::move(*this)), row = *row] {
        const auto got = self->core_->options.outbox->show(row);
        if (!got) return self->unavailable(got.error());
        if (*got) return self->tell(whole_row_json(**got));
        self->refuse({.kind = problem_kind::not_found, .detail = "there is no such row any more"});
    });
}

void console_visit::requeue() {
    if (!may_change() || !has_outbox()) return;
    const auto body = read_body();
    if (!body) return;
    auto rows = row_numbers(*body);
    if (!rows) return malformed("rows must be an array of 1 to 1000 numbers, as texts");
    core_->chore(
        [self = std::make_shared<console_visit>(std::move(*this)), rows = *std::move(rows)] {
            const auto got = self->core_->options.outbox->requeue(rows);
            if (!got) return self->unavailable(got.error());
            self->tell({{"outcome", "requeued"}, {"count", *got}});
        });
}

} // namespace semel::edge
