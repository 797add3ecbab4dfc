#include "edge/center/center.hpp"

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "edge/center/errand.hpp"
#include "edge/center/text.hpp"
#include "http/bounded_json.hpp"
#include "http/media_type.hpp"
#include "http/text.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

// Requests that are asked without a body may have one of this size, which is not looked at.
constexpr std::size_t stray_body_bytes_max = 1'024;

// For those who watch. A token that is not known has no id: it may be a mistyped one.
void note(const center_core& core, security_event::kind what, const http::request_head& head,
          std::string_view peer, const http::grant& of, const std::string& token) {
    if (!core.options.watch) return;
    core.options.watch({.what = what,
                        .at = "center",
                        .peer = peer,
                        .path = head.path(),
                        .tenant = of.tenant,
                        .token = token});
}

// Who sends this, if its token allows that.
std::variant<caller, told> authorise(const center_core& core, const http::request_head& head,
                                     std::string_view peer, http::scope what) {
    const auto token = http::bearer_token(head.headers);
    auto found = token ? core.options.grant_of(*token) : std::nullopt;
    if (!found) {
        told made = trouble(
            {.kind = problem_kind::tenant_missing,
             .detail = token ? "the bearer token is not known" : "a bearer token is needed"},
            core.options.problems);
        made.headers.add("WWW-Authenticate", token ? "Bearer error=\"invalid_token\"" : "Bearer");
        if (token) note(core, security_event::kind::token_refused, head, peer, {}, {});
        return made;
    }
    if (found->may.allows(what)) return *std::move(found);
    const std::string id = fingerprint::raw(*token).hex().substr(0, 12);
    note(core, security_event::kind::scope_refused, head, peer, *found, id);
    return trouble({.kind = problem_kind::forbidden,
                    .detail = "the scope '" + std::string{http::name(what)} + "' is needed"},
                   core.options.problems);
}

bool takes_body(const http::request_head& head) {
    constexpr std::string_view api = "/v1/";
    const std::string_view path = head.path();
    if (head.method != "POST" || !path.starts_with(api)) return false;
    return path == "/v1/batch" || act_named(path.substr(api.size()));
}

// One request on its way through the center.
class visit {
public:
    visit(std::shared_ptr<center_core> core, served_request request, reply answer)
        : core_(std::move(core)), request_(std::move(request)), answer_(std::move(answer)) {}

    void run() {
        const std::string_view path = request_.what.head.path();
        if (path == "/openapi.json") return describe();
        constexpr std::string_view records = "/v1/records/";
        if (path == "/v1/records") return search();
        constexpr std::string_view api = "/v1/";
        if (path.starts_with(records)) return look(path.substr(records.size()));
        if (path == "/v1/batch") return batch();
        if (!path.starts_with(api)) return refuse({.kind = problem_kind::not_found});
        const auto what = act_named(path.substr(api.size()));
        if (!what) return refuse({.kind = problem_kind::not_found});
        single(*what);
    }

private:
    // ---- what is asked for

    void describe() {
        if (!method_is("GET")) return;
        answer_({.status = 200,
                 .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-cache"}},
                 .body = std::string{openapi_document()}});
    }

    void single(act what) {
        if (!method_is("POST") || !may(http::scope::use)) return;
        const auto body = read_body();
        if (!body) return;
        auto read = read_order(what, *body, who_, core_->options);
        if (auto* wrong = std::get_if<told>(&read)) return refuse(std::move(*wrong));
        send(std::get<order>(std::move(read)));
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
        auto asked = read_query({"tenant"});
        if (!asked) return;
        auto tenant = tenant_for((*asked)["tenant"], who_, core_->options);
        if (auto* wrong = std::get_if<told>(&tenant)) return refuse(std::move(*wrong));
        auto made = lookup_order({.tenant = std::get<std::string>(std::move(tenant)),
                                  .operation = *operation,
                                  .key = *key},
                                 core_->options);
        if (auto* wrong = std::get_if<told>(&made)) return refuse(std::move(*wrong));
        send(std::get<order>(std::move(made)));
    }

    // Searching blocks, so it is not done on the thread that serves.
    void search() {
        if (!method_is("GET") || !may(http::scope::read)) return;
        auto asked = read_query({"result_ref", "operation", "cursor", "tenant"});
        if (!asked) return;
        auto tenant = tenant_for((*asked)["tenant"], who_, core_->options);
        if (auto* wrong = std::get_if<told>(&tenant)) return refuse(std::move(*wrong));
        record_query query{.tenant = std::get<std::string>(std::move(tenant)),
                           .operation = (*asked)["operation"],
                           .result_ref = (*asked)["result_ref"].value_or(""),
                           .cursor = (*asked)["cursor"].value_or("")};
        if (auto fine = check(query); !fine) return refuse(malformed(fine.error().detail));
        core_->enter();
        core_->runtime.chore(
            [core = core_, query = std::move(query), answer = std::move(answer_)]() mutable {
                answer(to_response(tell(core->records.search(query), core->options.problems)));
                core->leave();
            });
    }

    void send(order&& what) {
        auto done = [answer = std::move(answer_)](told with) mutable {
            answer(to_response(std::move(with)));
        };
        const auto made = make_errand(core_, std::move(what), std::move(done));
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

        void end(std::size_t at, told&& with) {
            items[at] = to_item(std::move(with));
            if (left.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
            answer(to_response(outcome({{"items", std::move(items)}})));
        }
    };

    void batch() {
        if (!method_is("POST") || !may(http::scope::use)) return;
        const auto body = read_body();
        if (!body) return;
        const json* const items = items_of(*body);
        if (items == nullptr) return;
        const auto all = std::make_shared<gathered>(items->size());
        all->answer = std::move(answer_);
        std::vector<submission> many;
        std::vector<std::pair<std::size_t, told>> wrong;
        for (std::size_t at = 0; at < items->size(); ++at) {
            auto read = read_item((*items)[at]);
            if (auto* refused = std::get_if<told>(&read)) {
                core_->counts.refused.add();
                wrong.emplace_back(at, std::move(*refused));
                continue;
            }
            auto done = [all, at](told with) { all->end(at, std::move(with)); };
            const auto made = make_errand(core_, std::get<order>(std::move(read)), std::move(done));
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

    std::variant<order, told> read_item(const json& item) {
        const bool named = item.is_object() && item.contains("do") && item["do"].is_string();
        const auto what =
            named ? act_named(item["do"].get_ref<const std::string&>()) : std::optional<act>{};
        if (!what)
            return malformed("do must be begin, complete, fail, abandon, renew, checkpoint "
                             "or release");
        auto read = read_order(*what, item, who_, core_->options);
        if (const auto* one = std::get_if<order>(&read); one && one->wait > duration::zero()) {
            return malformed("wait is not for batches: one that waits would hold up the others");
        }
        return read;
    }

    // ---- checks; each answers what it refuses

    bool method_is(std::string_view needed) {
        if (request_.what.head.method == needed) return true;
        told made = trouble({.kind = problem_kind::request_malformed,
                             .status = 405,
                             .detail = "this path takes " + std::string{needed} + " only"},
                            core_->options.problems);
        made.headers.add("Allow", std::string{needed});
        refuse(std::move(made));
        return false;
    }

    bool may(http::scope what) {
        auto who = authorise(*core_, request_.what.head, request_.peer, what);
        if (auto* no = std::get_if<told>(&who)) {
            refuse(std::move(*no));
            return false;
        }
        who_ = std::get<caller>(std::move(who));
        return true;
    }

    std::optional<json> read_body() {
        const http::request& what = request_.what;
        if (what.body.size() > core_->options.body_bytes_max) {
            refuse({.kind = problem_kind::body_too_large,
                    .detail = "the limit is " + std::to_string(core_->options.body_bytes_max) +
                              " bytes"});
            return std::nullopt;
        }
        const std::string* const type = what.head.headers.find("Content-Type");
        if (type != nullptr && !is_json(*type)) {
            refuse({.kind = problem_kind::request_malformed,
                    .status = 415,
                    .detail = "the body must be application/json"});
            return std::nullopt;
        }
        json body = http::parse_bounded(what.body);
        if (!body.is_discarded()) return body;
        refuse({.kind = problem_kind::request_malformed,
                .detail = "the body is not JSON, nested too deeply, or holds too many values"});
        return std::nullopt;
    }

    static bool is_json(std::string_view type) {
        return http::kind_of(http::lowered(http::parse_parameterised(type).value)) ==
               http::body_kind::json;
    }

    [[nodiscard]] told malformed(std::string why) const {
        return trouble({.kind = problem_kind::request_malformed, .detail = std::move(why)},
                       core_->options.problems);
    }

    // Nothing but these, each once.
    using parameters = std::map<std::string, std::optional<std::string>, std::less<>>;
    std::optional<parameters> read_query(std::initializer_list<std::string_view> known) {
        parameters found;
        std::string_view rest = request_.what.head.query();
        while (!rest.empty()) {
            const std::string_view one = rest.substr(0, rest.find('&'));
            rest.remove_prefix(std::min(one.size() + 1, rest.size()));
            const std::string_view name = one.substr(0, one.find('='));
            const bool fits = std::find(known.begin(), known.end(), name) != known.end();
            auto value = name.size() == one.size() ? std::nullopt
                                                   : percent_decoded(one.substr(name.size() + 1));
            if (!fits || !value || !found.emplace(name, std::move(value)).second) {
                refuse(malformed("the query may hold, once each: " + joined(known)));
                return std::nullopt;
            }
        }
        return found;
    }

    static std::string joined(std::initializer_list<std::string_view> names) {
        std::string made;
        for (const std::string_view one : names) made.append(made.empty() ? "" : ", ").append(one);
        return made;
    }

    void refuse(const http::problem& why) { refuse(trouble(why, core_->options.problems)); }
    void refuse(told with) {
        core_->counts.refused.add();
        answer_(to_response(std::move(with)));
    }

    const std::shared_ptr<center_core> core_;
    const served_request request_;
    reply answer_;
    caller who_;
};

} // namespace

center::center(store& records, runtime& timers, center_options options)
    : core_(std::make_shared<center_core>(records, timers, std::move(options))) {}

center::~center() {
    core_->stop_waiting();
    core_->wait_until_idle();
}

handler center::requests() {
    return [core = core_](served_request request, reply answer) {
        core->counts.requests.add();
        visit{core, std::move(request), std::move(answer)}.run();
    };
}

doorkeeper center::door() {
    return [core = core_](const http::request_head& head, std::string_view peer) -> body_admission {
        if (!takes_body(head)) return {.bytes_max = stray_body_bytes_max};
        auto who = authorise(*core, head, peer, http::scope::use);
        auto* const no = std::get_if<told>(&who);
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
    const live_center_counts& from = core_->counts;
    return {.requests = from.requests.get(),
            .refused = from.refused.get(),
            .commands = from.commands.get(),
            .started = from.started.get(),
            .replayed = from.replayed.get(),
            .in_progress = from.in_progress.get(),
            .mismatched = from.mismatched.get(),
            .failed = from.failed.get(),
            .in_doubt = from.in_doubt.get(),
            .fenced = from.fenced.get(),
            .unavailable = from.unavailable.get(),
            .waiters_refused = from.waiters_refused.get(),
            .waiting = core_->waiters()};
}

} // namespace semel::edge
