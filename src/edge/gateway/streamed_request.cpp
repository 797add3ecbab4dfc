#include "edge/gateway/streamed_request.hpp"

#include <utility>

#include "edge/gateway/forwarding.hpp"
#include "net/http1/writer.hpp"
#include "semel/http/problem.hpp"

namespace semel::edge {
namespace {

using by = http::body_framing::by;

bool has_no_effect(std::string_view method) {
    return method == "GET" || method == "HEAD" || method == "OPTIONS";
}

} // namespace

void streamed_request::start() {
    gateway_.passed.add();
    const http::request_head& head = client_->head();
    const http::body_framing& framing = client_->framing();
    const bool no_body = framing.how == by::nothing;
    method_ = head.method == "HEAD" ? http1::asked_with::head : http1::asked_with::other;
    safe_ = no_body && has_no_effect(head.method);
    may_be_overlooked_ = !no_body && !has_usual_body(head.method);
    chunked_ = framing.how == by::chunks;
    using over = client_facts::over;
    write_forwarded_head(head_, gateway_.options.upstream, head, nullptr,
                         {.address = client_->peer().address,
                          .trust = client_->peer().trust,
                          .transport = client_->tls() ? over::tls : over::plain,
                          .tenants = &gateway_.options.gate.tenants,
                          .vital = gateway_.options.server.heads.vital},
                         framing);
    if (no_body) return on_piece({}, more::none);
    client_->want_piece(); // so that head and body leave together
}

void streamed_request::on_piece(std::string_view piece, more then) {
    const bool last = then == more::none;
    part_ = {.head = {}, .body = piece, .tail = {}, .then = then};
    if (chunked_ && piece.empty()) {
        part_.tail = last ? http1::last_chunk : std::string_view{};
    } else if (chunked_) {
        http1::write_chunk_head(head_, piece.size());
        part_.tail = last ? http1::last_chunk_after_data : http1::chunk_end;
    }
    part_.head = head_;
    if (!submitted_) return submit();
    if (upstream_ != nullptr) upstream_->send_part(part_);
}

void streamed_request::submit() {
    submitted_ = true;
    gateway_.pool(client_->home()).submit(shared_from_this());
}

void streamed_request::on_connection(upstream_connection& by_which) {
    if (client_ == nullptr) return by_which.release();
    upstream_ = &by_which;
}

void streamed_request::on_request_part_sent() {
    head_.clear();
    if (client_ != nullptr) client_->want_piece();
}

void streamed_request::on_response_head(http1::response_head&& head) {
    response_ = std::move(head);
    response_.headers = response_headers(std::move(response_.headers));
    // The head does not wait for a body that is not there yet.
    if (!upstream_->has_piece()) return answer_head({}, more::follows);
    upstream_->want_piece();
}

void streamed_request::on_response_piece(std::string_view piece, more then) {
    if (!answered_) return answer_head(piece, then);
    client_->send_piece(piece, then);
}

void streamed_request::answer_head(std::string_view piece, more then) {
    answered_ = true;
    std::optional<http::body_framing> framing;
    if (method_ != http1::asked_with::head && !http1::is_bodiless(response_.status)) {
        framing = response_.framing;
        if (response_.until_close) framing = http::body_framing{.how = by::chunks};
    }
    client_->send_head(response_.status, response_.headers, framing, piece, then);
}

void streamed_request::on_sent() {
    upstream_->want_piece();
}

void streamed_request::on_upstream_failed(upstream_failure why) {
    upstream_ = nullptr;
    if (client_ == nullptr) return;
    if (answered_) return client_->abort();
    const bool unsent = why.request == upstream_failure::bytes_left::none;
    using kind = http::problem_kind;
    http::problem what{.kind = unsent ? kind::upstream_unreachable : kind::outcome_unknown};
    if (!unsent && !safe_) {
        what.detail = "This request had no protection: find out from the service whether it took "
                      "effect before you send it again.";
    }
    if (unsent) what.retry_after = gateway_.options.gate.problems.retry_after;
    client_->send(http::to_response(what, gateway_.options.gate.problems));
}

void streamed_request::on_end(ending) {
    client_ = nullptr;
    if (auto* const mine = std::exchange(upstream_, nullptr)) mine->release();
}

} // namespace semel::edge
