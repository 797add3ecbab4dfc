#include <utility>

#include "edge/center/members.hpp"
#include "edge/center/text.hpp"
#include "edge/console/query.hpp"
#include "edge/console/record_view.hpp"
#include "edge/console/resolution.hpp"
#include "edge/console/visit.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

json letter_json(const dead_letter& from) {
    return {{"id", from.event.id},
            {"topic", from.event.topic},
            {"key", from.event.key},
            {"attempts", from.attempts},
            {"created_at", rfc3339(from.created_at)},
            {"updated_at", rfc3339(from.updated_at)},
            {"error", from.error}};
}

json whole_letter_json(const dead_letter& from) {
    json made = letter_json(from);
    made["payload"] = bytes_json(from.event.payload);
    json& headers = made["headers"] = json::array();
    for (const auto& one : from.event.headers) headers.push_back({one.name, one.value});
    return made;
}

json topic_json(const outbox_topic& from) {
    return {{"topic", from.topic},
            {"waiting", from.waiting},
            {"under_way", from.under_way},
            {"dead", from.dead},
            {"oldest_ms", std::chrono::floor<std::chrono::milliseconds>(from.oldest).count()}};
}

} // namespace

// ---- acts on one record

void console_visit::resolve() {
    if (!may_change()) return;
    const auto id = read_id();
    const auto body = id ? read_body() : std::nullopt;
    if (!body) return;
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
    if (!body) return;
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
        // Its owner works on it after all, or somebody else has settled it.
        self->refuse(edge::tell(*std::move(got), self->core_->options.problems));
    });
}

// ---- the outbox

bool console_visit::has_outbox() {
    if (core_->options.outbox != nullptr) return true;
    refuse({.kind = problem_kind::not_found, .detail = "no outbox is configured"});
    return false;
}

void console_visit::outbox() {
    if (!method_is("GET") || !known() || !has_outbox()) return;
    core_->chore([self = std::make_shared<console_visit>(std::move(*this))] {
        const auto got = self->core_->options.outbox->state();
        if (!got) return self->unavailable(got.error());
        json topics = json::array();
        for (const outbox_topic& one : got->topics) topics.push_back(topic_json(one));
        self->tell({{"topics", std::move(topics)}});
    });
}

void console_visit::dead_letters() {
    if (!method_is("GET") || !known() || !has_outbox()) return;
    auto read = read_parameters(head().query(), {"cursor"});
    if (auto* wrong = std::get_if<std::string>(&read)) return malformed(std::move(*wrong));
    core_->chore([self = std::make_shared<console_visit>(std::move(*this)),
                  asked = std::get<parameters>(std::move(read))]() mutable {
        constexpr std::size_t letters_max = 50;
        const auto got = self->core_->options.outbox->dead(asked["cursor"], letters_max);
        if (!got) return self->unavailable(got.error());
        json letters = json::array();
        for (const dead_letter& one : got->letters) letters.push_back(letter_json(one));
        self->tell({{"letters", std::move(letters)}, {"cursor", got->cursor}});
    });
}

// Events belong to no tenant, so their payload is for those who may see all tenants.
void console_visit::letter() {
    if (!method_is("GET") || !known() || !has_outbox()) return;
    if (!who_->may_act()) {
        return refuse({.kind = problem_kind::forbidden,
                       .detail = "the scope 'admin' is needed to see payloads"});
    }
    auto read = read_parameters(head().query(), {"id"});
    if (auto* wrong = std::get_if<std::string>(&read)) return malformed(std::move(*wrong));
    core_->chore([self = std::make_shared<console_visit>(std::move(*this)),
                  asked = std::get<parameters>(std::move(read))]() mutable {
        const auto got = self->core_->options.outbox->letter(asked["id"]);
        if (!got) return self->unavailable(got.error());
        if (*got) return self->tell(whole_letter_json(**got));
        self->refuse({.kind = problem_kind::not_found, .detail = "no such dead letter"});
    });
}

void console_visit::requeue() {
    if (!may_change() || !has_outbox()) return;
    const auto body = read_body();
    if (!body) return;
    constexpr std::size_t ids_max = 1'000;
    const auto at = body->is_object() && body->size() == 1 ? body->find("ids") : body->end();
    bool fine = at != body->end() && at->is_array() && !at->empty() && at->size() <= ids_max;
    std::vector<std::string> ids;
    for (std::size_t i = 0; fine && i < at->size(); ++i) {
        fine = (*at)[i].is_string();
        if (fine) ids.push_back((*at)[i].get<std::string>());
    }
    if (!fine) return malformed("ids must be an array of 1 to 1000 event ids");
    core_->chore([self = std::make_shared<console_visit>(std::move(*this)), ids = std::move(ids)] {
        const auto got = self->core_->options.outbox->requeue(ids);
        if (!got) return self->unavailable(got.error());
        self->tell({{"outcome", "requeued"}, {"count", *got}});
    });
}

} // namespace semel::edge
