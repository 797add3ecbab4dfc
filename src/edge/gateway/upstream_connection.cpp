#include "edge/gateway/upstream_connection.hpp"

#include <boost/asio/connect.hpp>

#include <sys/socket.h>

#include <utility>

#include "edge/gateway/upstream_pool.hpp"
#include "semel/base/result.hpp"

namespace semel::edge {
namespace {

constexpr std::size_t usual_buffer = std::size_t{16} << 10U;
constexpr std::size_t large_buffer = std::size_t{64} << 10U;

// A connection that was just used is not asked again whether it still stands.
constexpr auto surely_alive = std::chrono::milliseconds{10};

bool other_end_is_silent(int descriptor) {
    char byte = 0;
    const auto got = ::recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
}

} // namespace

upstream_connection::upstream_connection(upstream_pool& pool)
    : pool_(pool), stream_(pool.home().context()), idle_limit_(pool.options().idle_time) {}

// ---- connecting ---------------------------------------------------------------------------------

void upstream_connection::connect(std::vector<tcp::endpoint> to,
                                  std::shared_ptr<upstream_call> first) {
    call_ = std::move(first);
    deadline_ = clock::now() + pool_.options().connect_time;
    deadline_why_ = "the upstream did not accept a connection in time";
    asio::async_connect(stream_.socket(), to,
                        [self = shared_from_this()](error_code failed, const tcp::endpoint&) {
                            self->on_connected(failed);
                        });
}

void upstream_connection::on_connected(error_code failed) {
    if (closed_) return;
    if (failed) return fail("cannot connect: " + failed.message());
    stream_.disable_delay();
    if (pool_.tls() == nullptr) return on_ready();
    const std::string& host = pool_.options().url.at.host;
    stream_.use_tls(*pool_.tls());
    stream_.expect_host(host);
    stream_.handshake(asio::ssl::stream_base::client,
                      [self = shared_from_this()](error_code refused) {
                          if (self->closed_) return;
                          if (refused) return self->fail("no TLS: " + refused.message());
                          self->on_ready();
                      });
}

void upstream_connection::on_ready() {
    connected_ = true;
    read();
    carry(std::move(call_));
}

// ---- the request --------------------------------------------------------------------------------

bool upstream_connection::is_fresh_enough(clock::time_point now) {
    if (closed_ || now - idle_since_ >= idle_limit_) return false;
    return now - idle_since_ < surely_alive ||
           other_end_is_silent(stream_.socket().native_handle());
}

void upstream_connection::carry(std::shared_ptr<upstream_call> call) {
    call_ = std::move(call);
    bytes_left_ = 0;
    request_done_ = answered_ = head_done_ = keeps_alive_ = false;
    body_ = {};
    call_->on_connection(*this);
    if (call_ != nullptr) write(call_->first()); // else its client has gone meanwhile
}

void upstream_connection::send_part(const request_part& part) {
    write(part);
}

void upstream_connection::write(const request_part& part) {
    SEMEL_ASSERT(!writing_);
    writing_ = true;
    after_write_ = part.then;
    deadline_ = clock::now() + pool_.options().progress_time;
    deadline_why_ = "the upstream did not take the request in time";
    const bool one_piece = part.body.empty() && part.tail.empty();
    if (one_piece && part.then == more::none && !stream_.is_tls()) {
        soon_ = part.head;
        return pool_.home().write_soon(shared_from_this());
    }
    write_later({asio::buffer(part.head), asio::buffer(part.body), asio::buffer(part.tail)});
}

void upstream_connection::write_now() {
    if (closed_) return on_written(asio::error::operation_aborted, 0); // the call may be gone
    const std::size_t sent = stream_.write_now(soon_);
    if (sent == soon_.size()) return on_written({}, sent);
    bytes_left_ += sent;
    write_later({asio::buffer(soon_.substr(sent)), {}, {}});
}

void upstream_connection::write_later(const std::array<asio::const_buffer, 3>& all) {
    stream_.write(all, [self = shared_from_this()](error_code failed, std::size_t count) {
        self->on_written(failed, count);
    });
}

void upstream_connection::on_written(error_code failed, std::size_t count) {
    writing_ = false;
    bytes_left_ += count;
    if (closed_ && call_ == nullptr) return;
    if (failed || closed_) {
        // An upstream may answer before it has taken the whole request, and close.
        if (answered_ && !closed_) return;
        return fail(failed ? "the connection ended: " + failed.message() : std::string{});
    }
    if (call_ == nullptr) return; // answered before its end: the connection is going
    request_done_ = after_write_ == more::none;
    if (head_done_) {
        deadline_ = clock::time_point::max(); // answered early: pump() sets its own
    } else {
        deadline_ = clock::now() + pool_.options().answer_time;
        deadline_why_ = "the upstream did not answer in time";
    }
    if (!request_done_) call_->on_request_part_sent();
}

// ---- the answer ---------------------------------------------------------------------------------

void upstream_connection::read() {
    if (reading_ || closed_) return;
    reading_ = true;
    const bool large = head_done_ && body_.remaining() > usual_buffer;
    const auto room = in_.prepare(large ? large_buffer : usual_buffer);
    stream_.read_some(asio::buffer(room.data, room.size),
                      [self = shared_from_this()](error_code failed, std::size_t count) {
                          self->on_read(failed, count);
                      });
}

void upstream_connection::on_read(error_code failed, std::size_t count) {
    reading_ = false;
    if (closed_) return;
    if (call_ == nullptr) return close(); // idle: it ends, or sends bytes without a request
    // Only an orderly end can be the end of an answer that has no length.
    if (failed == asio::error::eof) return on_end_of_input();
    if (failed) return fail("the connection broke: " + failed.message());
    in_.commit(count);
    answered_ = true;
    if (!head_done_) return take_head();
    pump();
}

void upstream_connection::on_end_of_input() {
    if (!head_done_) return fail("the connection ended without an answer");
    body_.on_close();
    keeps_alive_ = false;
    pump();
}

void upstream_connection::take_head() {
    while (true) {
        auto parsed = http1::parse_response(in_.view(), call_->method(), pool_.options().heads);
        if (auto* no = std::get_if<http1::refused_response>(&parsed)) {
            return fail("its answer is malformed: " + no->why);
        }
        auto* const whole = std::get_if<http1::parsed_response>(&parsed);
        if (whole == nullptr) return read();
        in_.consume(whole->size);
        if (whole->head.status == 101)
            return fail("it changes to a protocol that was not asked for");
        if (whole->head.status < 200) continue; // interim: the final one follows
        head_done_ = true;
        body_ = whole->head.body();
        keeps_alive_ = whole->head.keeps_alive();
        if (const auto limit = whole->head.idle_limit()) {
            idle_limit_ =
                std::min<duration>(pool_.options().idle_time, *limit - std::chrono::seconds{1});
        }
        deadline_ = clock::time_point::max();
        const auto kept = call_; // it may release this connection and be dropped by it
        return kept->on_response_head(std::move(whole->head));
    }
}

void upstream_connection::want_piece() {
    wanted_ = true;
    pump();
}

// A loop, not a recursion: the call may ask for the next piece while it is given one.
void upstream_connection::pump() {
    if (pumping_) return;
    pumping_ = true;
    const auto self = shared_from_this();
    while (wanted_ && call_ != nullptr) {
        in_.consume(std::exchange(piece_used_, 0));
        const auto got = body_.take(in_.view());
        if (body_.failed()) {
            pumping_ = false;
            return fail("its answer is malformed: " + std::string{body_.fault()});
        }
        if (got.content.empty() && !body_.done()) {
            in_.consume(got.used);
            deadline_ = clock::now() + pool_.options().progress_time;
            deadline_why_ = "the upstream stopped in the middle of its answer";
            read();
            break;
        }
        wanted_ = false;
        piece_used_ = got.used;
        deadline_ = clock::time_point::max();
        const auto kept = call_; // as above
        kept->on_response_piece(got.content, body_.done() ? more::none : more::follows);
    }
    pumping_ = false;
}

// ---- endings ------------------------------------------------------------------------------------

void upstream_connection::release() {
    in_.consume(std::exchange(piece_used_, 0));
    const auto ended = std::exchange(call_, nullptr);
    wanted_ = false;
    const bool whole = head_done_ && body_.done() && request_done_ && !writing_ &&
                       (ended == nullptr || ended->leaves_connection());
    if (closed_ || !whole || !keeps_alive_ || !in_.empty()) return close();
    become_idle();
}

void upstream_connection::become_idle() {
    reused_ = true;
    idle_since_ = clock::now();
    deadline_ = idle_since_ + idle_limit_;
    in_.shrink(usual_buffer);
    read();
    pool_.on_idle(*this);
}

void upstream_connection::fail(std::string why) {
    const auto self = shared_from_this();
    close();
    if (why_.empty()) why_ = std::move(why);
    // How much has left is known for certain only when the write has ended.
    if (writing_ || call_ == nullptr) return;
    const auto call = std::exchange(call_, nullptr);
    const bool nothing_left = bytes_left_ == 0;
    if (reused_ && !answered_ && (nothing_left || call->is_safe())) return pool_.again(call);
    using left = upstream_failure::bytes_left;
    call->on_upstream_failed(
        {.request = nothing_left ? left::none : left::some, .why = std::move(why_)});
}

void upstream_connection::close() {
    if (std::exchange(closed_, true)) return;
    deadline_ = clock::time_point::max();
    stream_.close();
    pool_.on_closed(*this);
}

void upstream_connection::on_tick(clock::time_point now) {
    if (now < deadline_ || closed_) return;
    if (call_ == nullptr) return close();
    fail(std::string{deadline_why_});
}

} // namespace semel::edge
