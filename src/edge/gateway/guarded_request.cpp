#include "edge/gateway/guarded_request.hpp"

#include <algorithm>
#include <utility>

#include "edge/gateway/forwarding.hpp"
#include "edge/gateway/probe.hpp"
#include "edge/server/handler.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"

namespace semel::edge {
namespace {

using over = client_facts::over;

// At most, while the fingerprint of a body is made: its text twice, and what the values of JSON
// take. Few are made at the same time, so they are counted and not refused: how full the server is
// must not show in a fingerprint.
std::size_t digest_bytes(std::size_t body_bytes) {
    constexpr std::size_t values_bytes_max = std::size_t{24} << 20U;
    return 2 * body_bytes + std::min(50 * body_bytes, values_bytes_max);
}

} // namespace

guarded_request::guarded_request(std::shared_ptr<gateway_state> gateway, session& client,
                                 http::protected_call call)
    : gateway_(std::move(gateway)),
      home_(client.home().shared_from_this()),
      client_(&client),
      peer_(client.peer()),
      transport_(client.tls() ? over::tls : over::plain),
      call_(std::move(call)) {}

// ---- from the client ----------------------------------------------------------------------------

void guarded_request::start() {
    head_ = client_->take_request_head();
    client_->collect(call_.how->body_bytes_max);
}

void guarded_request::on_whole(std::string body) {
    body_ = std::move(body);
    body_share_ = client_->take_body_share();
    if (body_.size() <= apart_bytes) return on_digest(http::add_body(call_, head_, body_));
    // To compare a large body takes long, and other connections wait for this thread.
    gateway_->workers->run_apart([self = shared_from_this()] {
        budget_share working{self->gateway_->options.server.buffered};
        working.hold(digest_bytes(self->body_.size()));
        auto no = http::add_body(self->call_, self->head_, self->body_);
        self->home_->post([self, no = std::move(no)]() mutable { self->on_digest(std::move(no)); });
    });
}

void guarded_request::on_digest(std::optional<http::refusal> no) {
    if (no) return answer(std::move(no->answer));
    gateway_->guarded.add();
    if (call_.how->outage == http::store_outage::pass) {
        const request& what = call_.what;
        equals_ = gateway_->equals.find(
            {.id = {.tenant = what.tenant, .operation = what.operation, .key = what.key},
             .content = what.content},
            gateway_->options.server.buffered);
    }
    claim();
}

// From here on the exchange is kept alive by the engine: the client may go, the work goes on and
// its result is stored.
void guarded_request::claim() {
    gateway_->under_way.add();
    gateway_->engine.start(
        call_.what,
        [self = shared_from_this()](execution& running, work_done done) {
            const std::uint32_t attempt = running.attempt();
            if (self->home_->is_this_thread()) return self->execute(attempt, std::move(done));
            self->home_->post([self, attempt, done = std::move(done)]() mutable {
                self->execute(attempt, std::move(done));
            });
        },
        [self = shared_from_this()](raw_outcome outcome) {
            if (self->home_->is_this_thread()) return self->on_outcome(std::move(outcome));
            self->home_->post([self, outcome = std::move(outcome)]() mutable {
                self->on_outcome(std::move(outcome));
            });
        });
}

// The engine holds this exchange, and the fetch holds the engine's `done`. If the exchange kept the
// fetch, an exchange whose connection is dropped would keep itself and its attempt alive.
void guarded_request::execute(std::uint32_t attempt, work_done done) {
    attempt_ = attempt;
    pass_on_once(equal_requests::under::record,
                 [self = shared_from_this(), done = std::move(done)](http::settled made) mutable {
                     self->own_ = std::move(made.own);
                     done(std::move(made.end));
                 });
}

// ---- to the upstream ----------------------------------------------------------------------------

// Unless an equal request, which is here at the same time, has been passed on already.
void guarded_request::pass_on_once(equal_requests::under what,
                                   unique_function<void(http::settled)> then) {
    if (equals_ == nullptr) return pass_on(std::move(then));
    const auto goes_on =
        std::make_shared<unique_function<void(http::settled)>>(std::move(then)); // by one of two
    auto mine = equals_->enter(what, [self = shared_from_this(), what, goes_on](auto news) {
        self->home_->post([self, what, goes_on, made = std::move(news)] {
            if (made == nullptr) return self->pass_on_once(what, std::move(*goes_on));
            self->answer_share_ = budget_share{self->gateway_->options.server.buffered};
            self->answer_share_.hold(made->own.body.size());
            (*goes_on)(http::settled{*made});
        });
    });
    if (!mine) return;
    if (what == equal_requests::under::nothing) gateway_->bypassed.add();
    pass_on([self = shared_from_this(), goes_on, mine = *std::move(mine)](auto made) mutable {
        mine.tell(made);
        (*goes_on)(std::move(made));
    });
}

void guarded_request::pass_on(unique_function<void(http::settled)> then) {
    using by = http::body_framing::by;
    http::body_framing framing{.how = by::length, .length = body_.size()};
    const bool usual = has_usual_body(head_.method);
    if (body_.empty() && !usual) framing = {};
    constexpr std::size_t small = 4'096;
    constexpr std::size_t usual_head = 512;
    fetch_options what{.body = body_,
                       .method = head_.method == "HEAD" ? http1::asked_with::head
                                                        : http1::asked_with::other,
                       .answer_bytes_max = gateway_->options.upstream.answer_bytes_max,
                       .kept_bytes_max = call_.how->policy.result_bytes_max,
                       .buffered = gateway_->options.server.buffered};
    if (!body_.empty() && !usual) what.then = fetch_options::afterwards::close;
    what.head.reserve(usual_head + (body_.size() <= small ? body_.size() : 0));
    write_forwarded_head(what.head, gateway_->options.upstream, head_, &call_,
                         {.address = peer_.address,
                          .trust = peer_.trust,
                          .transport = transport_,
                          .tenants = &gateway_->options.gate.tenants,
                          .vital = gateway_->options.server.heads.vital},
                         framing);
    // In one piece it can be written at once.
    if (body_.size() <= small) {
        what.head.append(body_);
        what.body = {};
    }
    gateway_->pool(*home_).submit(std::make_shared<fetch>(
        std::move(what), [self = shared_from_this(), then = std::move(then)](auto came) mutable {
            then(self->settled_of(std::move(came)));
        }));
}

http::settled guarded_request::settled_of(std::variant<fetch_result, upstream_failure>&& came) {
    if (auto* why = std::get_if<upstream_failure>(&came)) return settled_of(std::move(*why));
    auto& whole = std::get<fetch_result>(came);
    answer_share_ = std::move(whole.share);
    if (!whole.cut) return http::settle(call_, http::full_answer{.got = std::move(whole.got)});
    // The answer is larger than a record may be. The record only says that the request was
    // executed, and how it ended.
    const int status = whole.got.status;
    whole.got.body.assign(call_.how->policy.result_bytes_max + 1, ' ');
    http::settled made = http::settle(call_, http::full_answer{.got = std::move(whole.got)});
    made.own =
        http::to_response({.kind = http::problem_kind::result_not_kept, .original_status = status},
                          gateway_->options.gate.problems, call_.how->responses);
    return made;
}

http::settled guarded_request::settled_of(upstream_failure&& why) {
    if (why.request == upstream_failure::bytes_left::none) {
        gateway_->unsent.add();
        return http::settle(call_,
                            http::nothing_sent{.why = std::move(why.why), .attempt = attempt_});
    }
    gateway_->unanswered.add();
    log_warning(*gateway_->log, "no full answer from the upstream: the outcome is unknown",
                {{"operation", call_.what.operation},
                 {"key", log_key(call_.what.key)},
                 {"trace", http::trace_of(head_.headers)},
                 {"why", why.why}});
    return http::settle(call_, http::no_answer{.why = std::move(why.why)});
}

// ---- the answer ---------------------------------------------------------------------------------

void guarded_request::on_outcome(raw_outcome outcome) {
    gateway_->under_way.subtract(1);
    if (attempt_ == 0 && http::may_pass(call_, outcome)) return bypass();
    const bool asks = outcome.kind == outcome_kind::in_doubt && !probed_ && !own_ &&
                      gateway_->options.probes.contains(call_.what.operation);
    if (asks) return ask_probe(outcome.by.fence);
    answer(http::answer_for(call_, outcome, std::move(own_)));
}

// The store is away, and the route goes on without it.
void guarded_request::bypass() {
    gateway_->under_way.add();
    pass_on_once(equal_requests::under::nothing, [self = shared_from_this()](http::settled made) {
        self->gateway_->under_way.subtract(1);
        made.own.headers.set("Idempotency-Protected", "false");
        self->answer(std::move(made.own));
    });
}

// Only the upstream may know what became of the request.
void guarded_request::ask_probe(std::uint64_t fence) {
    probed_ = true;
    gateway_->under_way.add();
    probe_upstream(gateway_, home_, call_, fence, [self = shared_from_this()] {
        self->gateway_->under_way.subtract(1);
        self->claim(); // replays, runs, or is still in doubt
    });
}

void guarded_request::answer(http::response with) {
    equals_ = nullptr; // before the client can ask again: that is a request by itself
    if (gateway_->log->enabled(log_level::debug)) {
        log_debug(*gateway_->log, "answered",
                  {{"operation", call_.what.operation},
                   {"key", log_key(call_.what.key)},
                   {"trace", http::trace_of(head_.headers)},
                   {"status", with.status},
                   {"replayed", with.headers.contains("Idempotent-Replayed")}});
    }
    if (client_ != nullptr) client_->send(std::move(with));
}

} // namespace semel::edge
