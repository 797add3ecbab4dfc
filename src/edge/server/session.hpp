// One client connection: requests come in, strictly one after the other, and answers go out.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "edge/server/byte_stream.hpp"
#include "edge/server/exchange.hpp"
#include "edge/server/input_buffer.hpp"
#include "edge/server/server_state.hpp"
#include "edge/server/worker.hpp"
#include "net/http1/body.hpp"
#include "net/http1/response.hpp"
#include "net/http1/writer.hpp"
#include "semel/http/message.hpp"
#include "semel/http/tenant.hpp"

namespace semel::edge {

struct peer_facts {
    std::string address = {}; // without port
    std::uint64_t block = 0;  // the same for all addresses that one party has
    http::peer_trust trust = http::peer_trust::untrusted;
};

// Belongs to one worker. Owned by it and by handlers under way.
class session final : public worker::resident,
                      public worker::writer,
                      public std::enable_shared_from_this<session> {
public:
    session(worker& home, std::shared_ptr<server_state> server, tcp::socket socket, peer_facts peer,
            address_book::place place);
    ~session() override;

    void start();

    // ---- the request that is being served
    [[nodiscard]] worker& home() { return home_; }
    [[nodiscard]] const http::request_head& head() const { return head_; }
    // For an exchange that keeps it; head() is empty from then on.
    [[nodiscard]] http::request_head take_request_head() { return std::move(head_); }
    [[nodiscard]] const http::body_framing& framing() const { return framing_; }
    [[nodiscard]] const peer_facts& peer() const { return peer_; }
    [[nodiscard]] bool tls() const { return stream_.is_tls(); }
    [[nodiscard]] const server_options& options() const { return server_->options; }

    // ---- its body. One of the two, and not again before it was answered.
    // The whole of it, to on_whole. Over `bytes_max`: on_end, and the client gets a 413.
    void collect(std::size_t bytes_max);
    // The body's share of the server's room for bodies. Keep it as long as the body.
    [[nodiscard]] budget_share take_body_share() { return std::move(whole_share_); }
    // What has arrived of it, to on_piece; called at once where something is there.
    void want_piece();

    // ---- its answer
    // A whole one.
    void send(http::response answer);
    // One that is streamed: the head with the first piece (which may be empty), then the others,
    // each after on_sent. Pieces live until then. Without a framing the answer has no body.
    void send_head(int status, const http::header_list& headers,
                   std::optional<http::body_framing> framing, std::string_view piece, more then);
    void send_piece(std::string_view piece, more then);
    // The answer cannot be finished: the client must notice.
    void abort();

    void on_tick(clock::time_point now) override;
    void on_drain() override;
    [[nodiscard]] std::optional<clock::time_point> waits_since() const override;
    void give_way() override;
    void write_now() override;

private:
    // What the bytes that arrive are for.
    enum class wanted : std::uint8_t { nothing, head, whole, piece, rest };

    void next_request();
    void advance();
    void read(std::size_t at_least);
    void on_read(error_code failed, std::size_t count);
    void on_input_end();
    void invite();

    void take_head();
    void open_exchange();
    void take_whole();
    [[nodiscard]] bool make_room(std::size_t bytes);
    void take_piece();
    void read_more(std::size_t bytes_so_far);
    void discard();
    void refuse_large(std::size_t bytes_max);
    void refuse_overload();
    bool body_failed();

    void refuse(const http::problem& what);
    void refuse(http::refused_head&& why);
    void write_head(const http1::response_line& line, const http::header_list& headers);
    [[nodiscard]] http1::after then_for_answer() const;
    void flush(more then);
    void write();
    void on_written(error_code failed);
    void finish();
    void linger();
    void end_exchange(exchange::ending how);
    void gone();
    void close();

    void expire_after(duration time) {
        waiting_since_ = clock::now();
        deadline_ = waiting_since_ + time;
    }
    void never_expire() { deadline_ = clock::time_point::max(); }
    void expired();

    worker& home_;
    const std::shared_ptr<server_state> server_; // shared with the listener and other sessions
    const address_book::place place_;
    byte_stream stream_;
    peer_facts peer_;
    clock::time_point deadline_ = clock::time_point::max();
    clock::time_point waiting_since_ = {}; // where there is a deadline

    input_buffer in_;
    wanted wanted_ = wanted::nothing;
    bool reading_ = false, writing_ = false, inviting_ = false, closed_ = false;
    bool idle_ = true;      // no byte of the next head has arrived
    bool has_head_ = false; // that of the answer is written, or on its way

    http::request_head head_;
    http::body_framing framing_;
    http1::body_reader body_;
    http1::asked_with method_ = http1::asked_with::other;
    http::version version_ = http::version::http_1_1;
    bool persistent_ = false; // another request may follow
    bool invited_ = true;     // the client has not asked for "100 Continue", or got it
    std::string whole_;
    budget_share whole_share_;
    std::size_t whole_max_ = 0;
    std::size_t piece_used_ = 0; // of in_, by the piece that was given out
    std::size_t discarded_ = 0;
    clock::time_point body_since_ = {}; // without the time that pieces took to be passed on
    std::size_t streamed_ = 0;          // bytes of the pieces that were given out
    clock::time_point piece_given_at_ = {};

    std::shared_ptr<exchange> exchange_; // shared with whatever works on the answer
    bool chunked_out_ = false;
    std::string out_head_, out_body_;
    std::string_view out_piece_, out_tail_;
    more after_write_ = more::none;
    bool flush_waits_ = false; // for the invitation to be written
};

} // namespace semel::edge
