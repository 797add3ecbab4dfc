#include "edge/gateway/guarded.hpp"

#include <algorithm>
#include <utility>

#include "edge/gateway/forwarding.hpp"
#include "edge/gateway/probe.hpp"
#include "semel/http/problem.hpp"

namespace semel::edge {
namespace {

using over = client_facts::over;

} // namespace

guarded::guarded(std::shared_ptr<gateway_state> gateway, session& client, http::protected_call call)
    : gateway_(std::move(gateway)),
      home_(client.home().shared_from_this()),
      client_(&client),
      peer_(client.peer()),
      transport_(client.tls() ? over::tls : over::plain),
      call_(std::move(call)) {}

// ---- from the client
// ----------------------------------------------------------------------------

void guarded::start() {
    head_ = client_->take_request_head();
    client_->collect(call_.how->body_bytes_max);
}

void guarded::on_whole(std::string body) {
    body_ = std::move(body);
    if (auto no = http::add_body(call_, head_, body_)) return answer(std::move(no->answer));
    gateway_->guarded.add();
    claim();
}

// From here on the exchange is kept alive by the engine: the client may go, the work goes on and
// its result is stored.
void guarded::claim() {
    gateway_->under_way.add();
    gateway_->engine.start(
        call_.what,
        [self = shared_from_this()](execution&, work_done done) {
            if (self->home_->is_this_thread()) return self->execute(std::move(done));
            self->home_->post(
                [self, done = std::move(done)]() mutable { self->execute(std::move(done)); });
        },
        [self = shared_from_this()](raw_outcome outcome) {
            if (self->home_->is_this_thread()) return self->on_outcome(std::move(outcome));
            self->home_->post([self, outcome = std::move(outcome)]() mutable {
                self->on_outcome(std::move(outcome));
            });
        });
}

void guarded::execute(work_done done) {
    done_ = std::move(done);
    pass_on();
}

// ---- to the upstream
// ----------------------------------------------------------------------------

asked_with guarded::method() const {
    return head_.method == "HEAD" ? asked_with::head : asked_with::other;
}

void guarded::pass_on() {
    using by = http::body_framing::by;
    http::body_framing framing{.how = by::length, .length = body_.size()};
    if (body_.empty() && head_.method != "POST" && head_.method != "PATCH" &&
        head_.method != "PUT") {
        framing = {};
    }
    out_head_.clear();
    write_forwarded_head(out_head_, gateway_->options.upstream, head_, &call_,
                         {.address = peer_.address, .trust = peer_.trust, .transport = transport_},
                         framing);
    got_ = {};
    too_large_ = false;
    gateway_->pool(*home_).submit(shared_from_this());
}

outgoing guarded::first() {
    return {.head = out_head_, .body = body_};
}

void guarded::on_response_head(response_head&& head) {
    got_.status = head.status;
    got_.headers = std::move(head.headers);
    upstream_->want_piece();
}

void guarded::on_response_piece(std::string_view piece, more then) {
    if (piece.size() > gateway_->options.upstream.answer_bytes_max - got_.body.size()) {
        too_large_ = true;
    }
    if (!too_large_) got_.body.append(piece);
    if (then == more::follows) return upstream_->want_piece();
    std::exchange(upstream_, nullptr)->release();
    on_upstream(http::full_answer{.got = std::move(got_)});
}

void guarded::on_upstream_failed(upstream_failure why) {
    upstream_ = nullptr;
    if (why.request == upstream_failure::bytes_left::none) {
        gateway_->unsent.add();
        return on_upstream(http::nothing_sent{.why = std::move(why.why)});
    }
    gateway_->unanswered.add();
    log_warning(
        *gateway_->log, "no full answer from the upstream: the outcome is unknown",
        {{"operation", call_.what.operation}, {"key", log_key(call_.what.key)}, {"why", why.why}});
    on_upstream(http::no_answer{.why = std::move(why.why)});
}

void guarded::on_upstream(http::upstream_result with) {
    const bool cut = too_large_;
    if (cut) {
        // More than any record may hold: what is kept says that it was executed, and how it ended.
        auto& got = std::get<http::full_answer>(with).got;
        got.body.assign(call_.how->policy.result_bytes_max + 1, ' ');
    }
    http::settled made = http::settle(call_, std::move(with));
    own_ = std::move(made.own);
    if (cut) own_ = not_kept();
    if (bypassing_) return bypassed();
    std::exchange(done_, {})(std::move(made.end));
}

// ---- the answer
// ---------------------------------------------------------------------------------

void guarded::on_outcome(raw_outcome outcome) {
    gateway_->under_way.subtract(1);
    if (http::may_pass(call_, outcome)) return bypass();
    const bool asks = outcome.kind == outcome_kind::in_doubt && !probed_ && !own_ &&
                      gateway_->options.probes.contains(call_.what.operation);
    if (asks) return ask_probe(outcome.by.fence);
    answer(http::answer_for(call_, outcome, std::move(own_)));
}

http::response guarded::not_kept() const {
    return http::to_response(
        {.kind = http::problem_kind::result_not_kept, .original_status = own_->status},
        gateway_->options.gate.problems, call_.how->responses);
}

// The store is away and the route says to go on without it.
void guarded::bypass() {
    gateway_->bypassed.add();
    bypassing_ = true;
    gateway_->under_way.add();
    pass_on();
}

void guarded::bypassed() {
    gateway_->under_way.subtract(1);
    own_->headers.set("Idempotency-Protected", "false");
    answer(*std::exchange(own_, {}));
}

// Nobody knows what became of it but, perhaps, the upstream.
void guarded::ask_probe(std::uint64_t fence) {
    probed_ = true;
    gateway_->under_way.add();
    probe_upstream(gateway_, home_, call_, fence, [self = shared_from_this()] {
        self->gateway_->under_way.subtract(1);
        self->claim(); // replays, runs, or is still in doubt
    });
}

void guarded::answer(http::response with) {
    if (client_ != nullptr) client_->send(std::move(with));
}

} // namespace semel::edge
