// The incoming half: heads and bodies.
#include "edge/server/session.hpp"

#include <algorithm>
#include <utility>

#include "semel/http/problem.hpp"

namespace semel::edge {
namespace {

constexpr std::size_t usual_buffer = std::size_t{8} << 10U;
constexpr std::size_t stream_buffer = std::size_t{64} << 10U;
constexpr std::size_t discarded_max = std::size_t{256} << 10U;
constexpr std::string_view invitation = "HTTP/1.1 100 Continue\r\n\r\n";

bool asks_to_close(const http::request_head& head) {
    if (head.version == http::version::http_1_0) return true;
    if (!head.headers.contains("Connection")) return false;
    const auto members = http::list_members(head.headers, "Connection");
    return std::any_of(members.begin(), members.end(), [](std::string_view member) {
        return http::equal_ignoring_case(member, "close");
    });
}

} // namespace

session::session(worker& home, std::shared_ptr<server_state> server, tcp::socket socket,
                 peer_facts peer, address_book::place place)
    : home_(home),
      server_(std::move(server)),
      place_(std::move(place)),
      stream_(std::move(socket)),
      peer_(std::move(peer)) {
    server_->open.fetch_add(1);
}

session::~session() {
    server_->open.fetch_sub(1);
}

void session::start() {
    home_.enter(shared_from_this());
    stream_.disable_delay();
    expire_after(options().times.head);
    if (!server_->tls) return next_request();
    stream_.use_tls(*server_->tls);
    stream_.handshake(asio::ssl::stream_base::server,
                      [self = shared_from_this()](error_code failed) {
                          if (failed || self->closed_) return self->close();
                          auto* const shown = SSL_get0_peer_certificate(self->stream_.tls_handle());
                          if (shown != nullptr) self->peer_.trust = http::peer_trust::trusted;
                          self->next_request();
                      });
}

void session::next_request() {
    wanted_ = wanted::head;
    idle_ = true;
    has_head_ = false;
    method_ = http1::asked_with::other;
    version_ = http::version::http_1_1;
    if (server_->draining && in_.empty()) return close();
    take_head();
}

// ---- reading ------------------------------------------------------------------------------------

void session::read(std::size_t at_least) {
    if (reading_ || closed_) return;
    reading_ = true;
    const auto room = in_.prepare(at_least);
    stream_.read_some(asio::buffer(room.data, room.size),
                      [self = shared_from_this()](error_code failed, std::size_t count) {
                          self->on_read(failed, count);
                      });
}

void session::on_read(error_code failed, std::size_t count) {
    reading_ = false;
    if (closed_) return;
    if (failed) return on_input_end();
    in_.commit(count);
    advance();
}

void session::advance() {
    switch (wanted_) {
    case wanted::nothing: return;
    case wanted::head: return take_head();
    case wanted::whole: return take_whole();
    case wanted::piece: return take_piece();
    case wanted::rest: return discard();
    }
}

// While an answer is being made or written its client need not send anything: whether it is still
// there shows when it is written to.
void session::on_input_end() {
    if (wanted_ == wanted::nothing) {
        persistent_ = false;
        return;
    }
    if (wanted_ == wanted::rest || !writing_) return gone();
    wanted_ = wanted::nothing;
    persistent_ = false;
}

void session::invite() {
    invited_ = true;
    inviting_ = true;
    stream_.write(asio::buffer(invitation),
                  [self = shared_from_this()](error_code failed, std::size_t) {
                      self->inviting_ = false;
                      if (self->closed_) return;
                      if (failed) return self->gone();
                      if (std::exchange(self->flush_waits_, false)) self->flush(self->after_write_);
                  });
}

// ---- the head -----------------------------------------------------------------------------------

void session::take_head() {
    if (in_.empty()) {
        in_.shrink(usual_buffer);
        if (deadline_ == clock::time_point::max()) expire_after(options().times.idle);
        return read(usual_buffer);
    }
    if (std::exchange(idle_, false)) expire_after(options().times.head);
    auto parsed = http::parse_head(in_.view(), options().heads.limits);
    if (auto* no = std::get_if<http::refused_head>(&parsed)) return refuse(std::move(*no));
    auto* const whole = std::get_if<http::parsed_head>(&parsed);
    if (whole == nullptr) return read(usual_buffer);
    in_.consume(whole->size);
    head_ = std::move(whole->head);
    auto framing = http::check_head(head_, options().heads);
    if (auto* no = std::get_if<http::refused_head>(&framing)) return refuse(std::move(*no));
    framing_ = std::get<http::body_framing>(framing);
    open_exchange();
}

void session::refuse(http::refused_head&& why) {
    server_->malformed.add();
    // It is not known where such a request ends: its body may still be on its way.
    body_ = http1::body_reader{{.how = http::body_framing::by::chunks}, options().bodies};
    refuse({.kind = http::problem_kind::request_malformed,
            .status = why.status,
            .detail = std::move(why.detail)});
}

void session::open_exchange() {
    server_->requests.add();
    body_ = http1::body_reader{framing_, options().bodies};
    method_ = head_.method == "HEAD" ? http1::asked_with::head : http1::asked_with::other;
    version_ = head_.version;
    persistent_ = !server_->draining && !asks_to_close(head_);
    invited_ = !in_.empty() || head_.version == http::version::http_1_0 ||
               !head_.headers.contains("Expect");
    wanted_ = wanted::nothing;
    streamed_ = 0;
    never_expire();
    const auto opened = server_->serves->open(*this); // may be answered, and dropped, at once
    exchange_ = opened;
    opened->start();
}

// ---- the body -----------------------------------------------------------------------------------

void session::collect(std::size_t bytes_max) {
    const bool announced = framing_.how == http::body_framing::by::length;
    if (announced && framing_.length > bytes_max) return refuse_large(bytes_max);
    wanted_ = wanted::whole;
    whole_.clear();
    whole_share_ = budget_share{options().buffered};
    whole_max_ = bytes_max;
    body_since_ = waiting_since_ = clock::now();
    take_whole();
}

void session::take_whole() {
    while (!body_.done() && !in_.empty()) {
        const auto got = body_.take(in_.view());
        if (body_failed()) return;
        if (got.content.size() > whole_max_ - whole_.size()) {
            return refuse_large(whole_max_);
        }
        if (!make_room(whole_.size() + got.content.size())) return refuse_overload();
        whole_.append(got.content);
        in_.consume(got.used);
        if (got.used == 0) break;
    }
    if (body_.done()) {
        if (!whole_share_.settle()) return refuse_overload();
        wanted_ = wanted::nothing;
        never_expire();
        const auto whole_for = exchange_; // as above
        return whole_for->on_whole(std::exchange(whole_, {}));
    }
    read_more(whole_.size());
}

bool session::make_room(std::size_t bytes) {
    const bool counts = bytes > budget_share::free_bytes;
    if (counts && !whole_share_.is_known()) whole_share_.comes_from(peer_.block, body_since_);
    return whole_share_.grow_to(bytes);
}

// A body may stop for a while, but keeps up its rate on the whole. One that is held has an end in
// any case.
void session::read_more(std::size_t bytes_so_far) {
    const server_times& times = options().times;
    const auto earned = std::chrono::seconds{bytes_so_far / times.body_rate_min};
    deadline_ = std::min(body_since_ + times.body + earned, clock::now() + times.body);
    if (wanted_ == wanted::whole) deadline_ = std::min(deadline_, body_since_ + times.body_max);
    if (!invited_) invite();
    read(body_.remaining() > usual_buffer ? stream_buffer : usual_buffer);
}

void session::refuse_large(std::size_t bytes_max) {
    end_exchange(exchange::ending::gone);
    refuse({.kind = http::problem_kind::body_too_large,
            .detail = "at most " + std::to_string(bytes_max) + " bytes"});
}

// There is no room for this body, or others have got its room.
void session::refuse_overload() {
    server_->overloaded.add();
    end_exchange(exchange::ending::gone);
    whole_ = {};
    whole_share_.release();
    refuse({.kind = http::problem_kind::overloaded, .retry_after = options().problems.retry_after});
}

void session::want_piece() {
    wanted_ = wanted::piece;
    in_.consume(std::exchange(piece_used_, 0));
    // While a piece was being passed on, the client was not the reason for the wait.
    const auto now = clock::now();
    body_since_ = streamed_ == 0 ? now : body_since_ + (now - piece_given_at_);
    take_piece();
}

void session::take_piece() {
    const auto got = body_.take(in_.view());
    if (body_failed()) return;
    if (!got.content.empty() || body_.done()) {
        wanted_ = wanted::nothing;
        never_expire();
        piece_used_ = got.used;
        streamed_ += got.content.size();
        piece_given_at_ = clock::now();
        const auto piece_for = exchange_; // as above
        return piece_for->on_piece(got.content, body_.done() ? more::none : more::follows);
    }
    in_.consume(got.used);
    read_more(streamed_);
}

bool session::body_failed() {
    if (!body_.failed()) return false;
    server_->malformed.add();
    end_exchange(exchange::ending::gone);
    refuse({.kind = http::problem_kind::request_malformed, .detail = std::string{body_.fault()}});
    return true;
}

// What a refused client still sends is read, up to a limit, so that it gets to read its answer.
void session::discard() {
    discarded_ += in_.size();
    in_.consume(in_.size());
    if (discarded_ > discarded_max) return close();
    read(usual_buffer);
}

} // namespace semel::edge
