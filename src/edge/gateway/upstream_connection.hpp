// One connection to the upstream: one request at a time, kept for the next.
#pragma once

#include <boost/asio/ip/tcp.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "edge/gateway/upstream_call.hpp"
#include "edge/server/byte_stream.hpp"
#include "edge/server/input_buffer.hpp"
#include "net/http1/body.hpp"

namespace semel::edge {

class upstream_pool;

// Belongs to one worker. Owned by its pool and by handlers under way. A read is always pending
// while it is idle or waits for an answer, so an upstream that closes is noticed at once and
// bytes without a request end the connection.
class upstream_connection final : public worker::writer,
                                  public std::enable_shared_from_this<upstream_connection> {
public:
    explicit upstream_connection(upstream_pool& pool);

    // ---- for the pool
    void connect(std::vector<tcp::endpoint> to, std::shared_ptr<upstream_call> first);
    // Precondition: idle.
    void carry(std::shared_ptr<upstream_call> call);
    [[nodiscard]] bool is_fresh_enough(clock::time_point now);
    void on_tick(clock::time_point now);
    void close();
    void write_now() override;

    // ---- for the call it carries
    void send_part(const request_part& part);
    // Is some of the answer's body there already, or its end?
    [[nodiscard]] bool has_piece() const { return body_.done() || !in_.empty(); }
    void want_piece();
    // The call is over. If its answer is not whole, the connection is closed.
    void release();

private:
    void on_connected(error_code failed);
    void on_ready();
    void write(const request_part& part);
    void write_later(const std::array<asio::const_buffer, 3>& all);
    void on_written(error_code failed, std::size_t count);
    void read();
    void on_read(error_code failed, std::size_t count);
    void on_end_of_input();
    void take_head();
    void pump();
    void fail(std::string why);
    void become_idle();

    upstream_pool& pool_;
    byte_stream stream_;
    input_buffer in_;
    clock::time_point deadline_ = clock::time_point::max();
    std::string_view deadline_why_ = {};
    clock::time_point idle_since_ = {};
    duration idle_limit_;

    std::shared_ptr<upstream_call> call_; // shared with its session; null while idle
    bool reading_ = false, writing_ = false, closed_ = false;
    bool connected_ = false;
    bool reused_ = false;          // has carried another call before
    std::string_view soon_ = {};   // the request, where it is one piece; the call's
    std::uint64_t bytes_left_ = 0; // of this request, to the upstream
    std::string why_;              // it failed
    bool request_done_ = false;
    bool answered_ = false; // a byte of the answer has come
    bool head_done_ = false;
    bool keeps_alive_ = false;
    http1::body_reader body_;
    bool wanted_ = false, pumping_ = false;
    std::size_t piece_used_ = 0;
    more after_write_ = more::none;
};

} // namespace semel::edge
