// The outgoing half of a session: answers, refusals, endings.
#include <algorithm>
#include <array>
#include <utility>

#include "edge/server/session.hpp"
#include "semel/base/result.hpp"
#include "semel/http/problem.hpp"

namespace semel::edge {
namespace {

using by = http::body_framing::by;

} // namespace

// ---- answers ------------------------------------------------------------------------------------

// If a body was not read to its end, it is not known where the next request begins.
http1::after session::then_for_answer() const {
    return persistent_ && body_.done() && !server_->draining ? http1::after::keep_alive
                                                             : http1::after::close;
}

void session::send(http::response answer) {
    const bool to_head = method_ == http1::asked_with::head;
    std::optional<http::body_framing> framing;
    if (!http1::is_bodiless(answer.status) && !(to_head && answer.body.empty())) {
        framing = {.how = by::length, .length = answer.body.size()};
    }
    chunked_out_ = false;
    write_head({.status = answer.status, .framing = framing}, answer.headers);
    out_body_ = std::move(answer.body);
    out_piece_ = framing && !to_head ? std::string_view{out_body_} : std::string_view{};
    flush(more::none);
}

void session::send_head(int status, const http::header_list& headers,
                        std::optional<http::body_framing> framing, std::string_view piece,
                        more then) {
    chunked_out_ = framing && framing->how == by::chunks;
    if (chunked_out_ && version_ == http::version::http_1_0) {
        chunked_out_ = false; // its end is that of the connection
        framing = http::body_framing{};
    }
    write_head({.status = status, .framing = framing}, headers);
    send_piece(piece, then);
}

void session::write_head(const http1::response_line& line, const http::header_list& headers) {
    has_head_ = true;
    http1::response_line whole = line;
    whole.then = then_for_answer();
    persistent_ = whole.then == http1::after::keep_alive;
    whole.date = home_.date();
    http1::write_response_head(out_head_, whole, headers);
}

// `out_head_` may hold the head already: both go out in one write.
void session::send_piece(std::string_view piece, more then) {
    out_piece_ = piece;
    if (chunked_out_) {
        if (!piece.empty()) http1::write_chunk_head(out_head_, piece.size());
        const bool last = then == more::none;
        if (piece.empty()) {
            out_tail_ = last ? http1::last_chunk : std::string_view{};
        } else {
            out_tail_ = last ? http1::last_chunk_after_data : http1::chunk_end;
        }
    }
    flush(then);
}

void session::flush(more then) {
    SEMEL_ASSERT(!writing_);
    after_write_ = then;
    if (inviting_) {
        flush_waits_ = true;
        return;
    }
    writing_ = true;
    // Most answers are small and fit into the socket's buffer.
    constexpr std::size_t small = 4'096;
    if (then == more::follows || stream_.is_tls() || out_piece_.size() > small) return write();
    out_head_.append(out_piece_).append(out_tail_);
    out_piece_ = out_tail_ = {};
    home_.write_soon(shared_from_this());
}

void session::write_now() {
    if (closed_) return;
    const std::size_t sent = stream_.write_now(out_head_);
    if (sent == out_head_.size()) return on_written({});
    out_head_.erase(0, sent);
    write();
}

void session::write() {
    const std::size_t size = out_head_.size() + out_piece_.size();
    const auto earned = std::chrono::seconds{size / options().times.write_rate_min};
    expire_after(options().times.write + earned);
    const std::array<asio::const_buffer, 3> all = {
        asio::buffer(out_head_), asio::buffer(out_piece_), asio::buffer(out_tail_)};
    stream_.write(all, [self = shared_from_this()](error_code failed, std::size_t) {
        self->on_written(failed);
    });
}

void session::on_written(error_code failed) {
    writing_ = false;
    if (closed_) return;
    if (failed) return gone();
    out_head_.clear();
    out_piece_ = out_tail_ = {};
    never_expire();
    if (after_write_ == more::follows) {
        const auto sent_for = exchange_; // its next part may be the last
        return sent_for->on_sent();
    }
    if (out_body_.capacity() > (std::size_t{64} << 10U)) out_body_ = {};
    end_exchange(exchange::ending::answered);
    finish();
}

void session::finish() {
    in_.consume(std::exchange(piece_used_, 0));
    if (persistent_) return next_request();
    if (body_.done() && in_.empty() && !stream_.is_tls()) return close();
    linger();
}

// ---- endings ------------------------------------------------------------------------------------

void session::refuse(const http::problem& what) {
    persistent_ = false;
    wanted_ = wanted::nothing;
    if (has_head_) return abort(); // in the middle of an answer: no other can be given
    if (writing_ || inviting_) return gone();
    send(http::to_response(what, options().problems));
}

// To close at once what still has unread bytes would reset the connection and take the answer with
// it.
void session::linger() {
    wanted_ = wanted::rest;
    discarded_ = 0;
    expire_after(options().times.linger);
    const bool tls = stream_.is_tls();
    stream_.end_output([self = shared_from_this(), tls](error_code) {
        if (tls) self->close();
    });
    if (!tls) discard();
}

void session::abort() {
    const auto self = shared_from_this();
    end_exchange(exchange::ending::gone);
    // A reset, not an orderly end: it must not look like a complete answer.
    error_code ignored;
    stream_.socket().set_option(asio::socket_base::linger{true, 0}, ignored);
    close();
}

void session::end_exchange(exchange::ending how) {
    if (const auto ended = std::exchange(exchange_, nullptr)) ended->on_end(how);
}

void session::gone() {
    end_exchange(exchange::ending::gone);
    close();
}

void session::close() {
    if (std::exchange(closed_, true)) return;
    never_expire();
    stream_.close();
    home_.leave(*this);
}

void session::on_tick(clock::time_point now) {
    if (wanted_ == wanted::whole && whole_share_.was_cut()) return refuse_overload();
    if (now < deadline_ || closed_) return;
    never_expire();
    expired();
}

void session::expired() {
    if (wanted_ == wanted::rest) return close();
    if (wanted_ == wanted::head && in_.empty() && !writing_) return close(); // idle
    server_->timed_out.add();
    if (writing_ || inviting_ || (wanted_ == wanted::nothing)) return gone();
    end_exchange(exchange::ending::gone);
    refuse({.kind = http::problem_kind::request_malformed,
            .status = 408,
            .detail = "the request did not arrive in time"});
}

// Every wait for the client has a deadline, and no other.
std::optional<clock::time_point> session::waits_since() const {
    if (deadline_ == clock::time_point::max()) return std::nullopt;
    return waiting_since_;
}

void session::give_way() {
    server_->refused.add();
    gone();
}

void session::on_drain() {
    const bool idle = wanted_ == wanted::head && in_.empty() && !writing_;
    persistent_ = false;
    if (idle) close();
}

} // namespace semel::edge
