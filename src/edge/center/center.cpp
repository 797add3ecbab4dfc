#include "edge/center/center.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "edge/api/answer_json.hpp"
#include "edge/api/api_request.hpp"
#include "edge/api/encoding.hpp"
#include "edge/center/center_call.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

// Requests that are asked without a body may have one of this size, which is not looked at.
constexpr std::size_t stray_body_bytes_max = 1'024;

// The caller, if its token allows that.
std::variant<api_caller, json_response> authorise(const center_core& core,
                                                  const http::request_head& head,
                                                  std::string_view peer, http::scope what) {
    const api_sender sender{"center", core.options.watch, head, peer};
    const auto token = http::bearer_token(head.headers);
    auto found = token ? core.options.grant_of(*token) : std::nullopt;
    if (!found) {
        json_response made = refusal(
            {.kind = problem_kind::tenant_missing,
             .detail = token ? "the bearer token is not known" : "a bearer token is needed"},
            core.options.problems);
        made.headers.add("WWW-Authenticate", token ? "Bearer error=\"invalid_token\"" : "Bearer");
        if (token) sender.note(security_event::kind::token_refused, nullptr);
        return made;
    }
    api_caller who{.gives = *std::move(found), .token = fingerprint::raw(*token)};
    if (who.gives.may.allows(what)) return who;
    sender.note(security_event::kind::scope_refused, &who);
    return refusal({.kind = problem_kind::forbidden,
                    .detail = "the scope '" + std::string{http::name(what)} + "' is needed"},
                   core.options.problems);
}

bool takes_body(const http::request_head& head) {
    constexpr std::string_view api = "/v1/";
    const std::string_view path = head.path();
    if (head.method != "POST" || !path.starts_with(api)) return false;
    return path == "/v1/batch" || action_named(path.substr(api.size()));
}

json found_json(const found_record& from) {
    json made = summary_json(from.it);
    made["operation"] = from.id.operation;
    made["key"] = from.id.key;
    return made;
}

json_response page_response(const result<record_page>& got, const http::problem_options& options) {
    if (!got && got.error().code == errc::invalid_argument) {
        return refusal({.kind = problem_kind::request_malformed, .detail = got.error().detail},
                       options);
    }
    if (!got) return refusal(got.error(), problem_kind::unavailable, options);
    json records = json::array();
    for (const found_record& one : got->records) records.push_back(found_json(one));
    json body = {{"records", std::move(records)}};
    if (!got->cursor.empty()) body["cursor"] = got->cursor;
    return success(std::move(body));
}

json to_item(json_response&& what) {
    json made = {{"status", what.status}, {"body", std::move(what.body)}};
    if (const std::string* after = what.headers.find("Retry-After")) {
        made["retry_after"] = std::stoi(*after);
    }
    return made;
}

// One request on its way through the center.
class center_request : public api_request {
public:
    center_request(std::shared_ptr<center_core> core, served_request request, reply answer)
        : api_request({core->options.problems, &core->counts.refused}, std::move(request),
                      std::move(answer)),
          core_(std::move(core)) {}

    void run() {
        const std::string_view path = head().path();
        if (path == "/openapi.json") return describe();
        constexpr std::string_view records = "/v1/records/";
        if (path == "/v1/records") return search();
        constexpr std::string_view api = "/v1/";
        if (path.starts_with(records)) return look(path.substr(records.size()));
        if (path == "/v1/batch") return batch();
        if (!path.starts_with(api)) return refuse({.kind = problem_kind::not_found});
        const auto what = action_named(path.substr(api.size()));
        if (!what) return refuse({.kind = problem_kind::not_found});
        single(*what);
    }

private:
    // ---- what is asked for

    void describe() {
        if (!method_is("GET")) return;
        api_request::send(http::response{
            .status = 200,
            .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache"}},
            .body = std::string{openapi_document()}});
    }

    void single(action what) {
        if (!method_is("POST") || !may(http::scope::use)) return;
        const auto body = read_bounded_body();
        if (!body) return;
        auto read = read_command(what, *body, who_->gives, core_->options);
        if (auto* wrong = std::get_if<json_response>(&read)) return refuse(std::move(*wrong));
        ask(std::get<center_command>(std::move(read)));
    }

    void look(std::string_view rest) {
        if (!method_is("GET") || !may(http::scope::read)) return;
        const auto slash = rest.find('/');
        const auto operation = percent_decoded(rest.substr(0, slash));
        const auto key = slash == std::string_view::npos ? std::nullopt
                                                         : percent_decoded(rest.substr(slash + 1));
        if (!operation || !key) {
            return refuse({.kind = problem_kind::not_found,
                           .detail = "records are at /v1/records/{operation}/{key}"});
        }
        auto asked = read_query({"tenant"}, query_style::plain);
        if (!asked) return;
        auto tenant = tenant_for(take(*asked, "tenant"), who_->gives, core_->options);
        if (auto* wrong = std::get_if<json_response>(&tenant)) return refuse(std::move(*wrong));
        auto made = read_lookup({.tenant = std::get<std::string>(std::move(tenant)),
                                 .operation = *operation,
                                 .key = *key},
                                core_->options);
        if (auto* wrong = std::get_if<json_response>(&made)) return refuse(std::move(*wrong));
        ask(std::get<center_command>(std::move(made)));
    }

    // Searching blocks, so it is not done on the thread that serves.
    void search() {
        if (!method_is("GET") || !may(http::scope::read)) return;
        auto asked =
            read_query({"result_ref", "operation", "cursor", "tenant"}, query_style::plain);
        if (!asked) return;
        auto tenant = tenant_for(take(*asked, "tenant"), who_->gives, core_->options);
        if (auto* wrong = std::get_if<json_response>(&tenant)) return refuse(std::move(*wrong));
        record_query query{.tenant = std::get<std::string>(std::move(tenant)),
                           .operation = take(*asked, "operation"),
                           .result_ref = take(*asked, "result_ref").value_or(""),
                           .cursor = take(*asked, "cursor").value_or("")};
        if (auto fine = check(query); !fine) return refuse_malformed(fine.error().detail);
        core_->calls.enter();
        core_->runtime.chore([core = core_, query = std::move(query),
                              answer = take_answer()]() mutable {
            answer(to_response(page_response(core->records.search(query), core->options.problems)));
            core->calls.leave();
        });
    }

    void ask(center_command&& what) {
        auto done = [answer = take_answer()](json_response with) mutable {
            answer(to_response(std::move(with)));
        };
        const auto made = make_call(core_, std::move(what), std::move(done));
        submission first = made->first();
        core_->records.submit(std::move(first.what), std::move(first.done));
    }

    // ---- many at once

    struct gathered {
        explicit gathered(std::size_t count) : items(count), left(count) {}

        // Items end on any thread; each writes its own place, and the last one sends all.
        std::vector<json> items;
        std::atomic<std::size_t> left;
        reply answer;

        void end(std::size_t at, json_response&& with) {
            items[at] = to_item(std::move(with));
            if (left.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
            answer(to_response(success({{"items", std::move(items)}})));
        }
    };

    void batch() {
        if (!method_is("POST") || !may(http::scope::use)) return;
        const auto body = read_bounded_body();
        if (!body) return;
        const json* const items = items_of(*body);
        if (items == nullptr) return;
        const auto all = std::make_shared<gathered>(items->size());
        all->answer = take_answer();
        std::vector<submission> many;
        std::vector<std::pair<std::size_t, json_response>> wrong;
        for (std::size_t at = 0; at < items->size(); ++at) {
            auto read = read_item((*items)[at]);
            if (auto* refused = std::get_if<json_response>(&read)) {
                core_->counts.refused.add();
                wrong.emplace_back(at, std::move(*refused));
                continue;
            }
            auto done = [all, at](json_response with) { all->end(at, std::move(with)); };
            const auto made =
                make_call(core_, std::get<center_command>(std::move(read)), std::move(done));
            many.push_back(made->first());
        }
        for (auto& [at, with] : wrong) all->end(at, std::move(with));
        if (!many.empty()) core_->records.submit_all(std::move(many));
    }

    const json* items_of(const json& body) {
        const std::size_t most = core_->options.batch_max;
        const auto at = body.is_object() && body.size() == 1 ? body.find("items") : body.end();
        const bool fine = at != body.end() && at->is_array() && !at->empty() && at->size() <= most;
        if (fine) return &*at;
        refuse(
            {.kind = problem_kind::request_malformed,
             .detail = "a batch is {\"items\": […]} with 1 to " + std::to_string(most) + " items"});
        return nullptr;
    }

    std::variant<center_command, json_response> read_item(const json& item) {
        const bool named = item.is_object() && item.contains("do") && item["do"].is_string();
        const auto what = named ? action_named(item["do"].get_ref<const std::string&>())
                                : std::optional<action>{};
        if (!what)
            return malformed("do must be begin, complete, fail, abandon, renew, checkpoint "
                             "or release");
        auto read = read_command(*what, item, who_->gives, core_->options);
        if (const auto* one = std::get_if<center_command>(&read);
            one && one->wait > duration::zero()) {
            return malformed("wait is not for batches: one that waits would hold up the others");
        }
        return read;
    }

    // ---- checks; each answers what it refuses

    bool may(http::scope what) {
        auto who = authorise(*core_, head(), peer(), what);
        if (auto* no = std::get_if<json_response>(&who)) {
            refuse(std::move(*no));
            return false;
        }
        who_ = std::get<api_caller>(std::move(who));
        return true;
    }

    std::optional<json> read_bounded_body() {
        const std::size_t most = core_->options.body_bytes_max;
        if (body_bytes() <= most) return read_body(body_type::json_or_untyped);
        refuse({.kind = problem_kind::body_too_large,
                .detail = "the limit is " + std::to_string(most) + " bytes"});
        return std::nullopt;
    }

    [[nodiscard]] json_response malformed(std::string why) const {
        return refusal({.kind = problem_kind::request_malformed, .detail = std::move(why)},
                       core_->options.problems);
    }

    const std::shared_ptr<center_core> core_;
    std::optional<api_caller> who_; // once may() has said yes
};

} // namespace

center::center(store& records, runtime& timers, center_options options)
    : core_(std::make_shared<center_core>(records, timers, std::move(options))) {}

center::~center() {
    core_->stop_waiting();
    core_->calls.close();
}

handler center::requests() {
    return [core = core_](served_request request, reply answer) {
        core->counts.requests.add();
        center_request{core, std::move(request), std::move(answer)}.run();
    };
}

doorkeeper center::door() {
    return [core = core_](const http::request_head& head, std::string_view peer) -> body_admission {
        if (!takes_body(head)) return {.bytes_max = stray_body_bytes_max};
        auto who = authorise(*core, head, peer, http::scope::use);
        auto* const no = std::get_if<json_response>(&who);
        if (no == nullptr) return {.bytes_max = core->options.body_bytes_max};
        core->counts.requests.add();
        core->counts.refused.add();
        return {.refusal = to_response(std::move(*no))};
    };
}

void center::serve(served_request request, reply answer) {
    requests()(std::move(request), std::move(answer));
}

void center::stop_waiting() {
    core_->stop_waiting();
}

center_counts center::counts() const {
    center_counts made = core_->counts;
    made.waiting = core_->waiters();
    return made;
}

} // namespace semel::edge
