#include "edge/admin/admin.hpp"

#include <utility>

#include "semel/http/tenant.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

http::response text_page(std::string type, std::string body) {
    return {.status = 200,
            .headers = {{"Content-Type", std::move(type)}, {"Cache-Control", "no-store"}},
            .body = std::move(body)};
}

http::response not_ready(const admin::parts& of, std::string why) {
    return http::to_response({.kind = problem_kind::unavailable,
                              .detail = std::move(why),
                              .retry_after = of.options.problems.retry_after},
                             of.options.problems);
}

http::response ready_page(const admin::parts& of) {
    return text_page("text/plain", "ready\n" + (of.options.notes ? of.options.notes() : ""));
}

// The answer of the store or the end of its time, whichever comes first.
struct readiness {
    std::atomic<bool> told = false;
    reply answer;

    void tell(http::response with) {
        if (!told.exchange(true, std::memory_order_acq_rel)) answer(std::move(with));
    }
};

void check_ready(const std::shared_ptr<admin::parts>& of, reply answer) {
    if (of->draining.load(std::memory_order_relaxed)) {
        return answer(not_ready(*of, "draining"));
    }
    const auto waits = std::make_shared<readiness>();
    waits->answer = std::move(answer);
    of->timers.at(of->timers.now() + of->options.ready_max, [of, waits] {
        waits->tell(not_ready(*of, "the store does not answer in time"));
    });
    // A record that does not exist: the look-up reaches the store and changes nothing.
    const record_id absent{.tenant = "semel", .operation = "ready", .key = "ready"};
    of->records.submit(
        {.id = absent, .what = commands::lookup{}}, [of, waits](result<semel::reply> got) {
            waits->tell(got ? ready_page(*of) : not_ready(*of, "the store cannot be asked"));
        });
}

http::response metrics_page(const admin::parts& of, const http::request_head& head) {
    const auto& allowed = of.options.may_see_metrics;
    const auto token = http::bearer_token(head.headers);
    if (allowed && (!token || !allowed(*token))) {
        auto refused = http::to_response(
            {.kind = problem_kind::tenant_missing,
             .status = 401,
             .detail = "a bearer token with the scope 'read' or 'admin' is needed"},
            of.options.problems);
        refused.headers.add("WWW-Authenticate", "Bearer");
        return refused;
    }
    return text_page("text/plain; version=0.0.4; charset=utf-8",
                     of.options.metrics ? of.options.metrics() : "");
}

void answer_one(const std::shared_ptr<admin::parts>& of, served_request request, reply answer) {
    const http::request_head& head = request.what.head;
    const std::string_view path = head.path();
    if (path != "/health" && path != "/ready" && path != "/metrics") {
        if (of->options.others) return of->options.others(std::move(request), std::move(answer));
        return answer(http::to_response({.kind = problem_kind::not_found}, of->options.problems));
    }
    if (head.method != "GET") {
        auto refused = http::to_response({.kind = problem_kind::request_malformed, .status = 405},
                                         of->options.problems);
        refused.headers.add("Allow", "GET");
        return answer(std::move(refused));
    }
    if (path == "/ready") return check_ready(of, std::move(answer));
    if (path == "/health") return answer(text_page("text/plain", "alive\n"));
    answer(metrics_page(*of, head));
}

} // namespace

admin::admin(store& records, runtime& timers, admin_options options)
    : parts_(new parts{.records = records, .timers = timers, .options = std::move(options)}) {}

handler admin::requests() {
    return [of = parts_](served_request request, reply answer) {
        answer_one(of, std::move(request), std::move(answer));
    };
}

} // namespace semel::edge
