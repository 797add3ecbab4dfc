// A TCP connection, plain or under TLS: the rest of the server need not know which.
#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <sys/socket.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "edge/server/worker.hpp"
#include "net/address.hpp"

namespace semel::edge {

using tcp = asio::ip::tcp;
using boost::system::error_code;

// Not thread-safe: one worker. Neither copied nor moved, since TLS refers to the socket.
class byte_stream {
public:
    explicit byte_stream(tcp::socket socket) : socket_(std::move(socket)) {}
    explicit byte_stream(asio::io_context& context) : socket_(context) {}
    byte_stream(const byte_stream&) = delete;
    byte_stream& operator=(const byte_stream&) = delete;

    [[nodiscard]] tcp::socket& socket() { return socket_; }
    [[nodiscard]] bool is_tls() const { return tls_.has_value(); }
    void use_tls(asio::ssl::context& with) { tls_.emplace(socket_, with); }

    // The certificate of the other end must be for this host.
    void expect_host(const std::string& host) {
        tls_->set_verify_callback(asio::ssl::host_name_verification{host});
        // What SSL_set_tlsext_host_name does, without its old cast. Names only: addresses have
        // none.
        if (net::parse_address(host)) return;
        SSL_ctrl(tls_->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                 const_cast<char*>(host.c_str()));
    }
    [[nodiscard]] SSL* tls_handle() { return tls_->native_handle(); }

    template <class Handler>
    void handshake(asio::ssl::stream_base::handshake_type as, Handler handler) {
        tls_->async_handshake(as, std::move(handler));
    }
    template <class Handler> void read_some(asio::mutable_buffer into, Handler handler) {
        if (tls_) return tls_->async_read_some(into, std::move(handler));
        socket_.async_read_some(into, std::move(handler));
    }
    // All of it: one system call unless the other end reads slowly.
    template <class Buffers, class Handler> void write(const Buffers& all, Handler handler) {
        if (tls_) return asio::async_write(*tls_, all, std::move(handler));
        asio::async_write(socket_, all, std::move(handler));
    }
    // As much of it as the socket takes at once; not under TLS. An error shows in the write of
    // the rest.
    [[nodiscard]] std::size_t write_now(std::string_view bytes) {
        const auto sent = ::send(socket_.native_handle(), bytes.data(), bytes.size(),
                                 MSG_DONTWAIT | MSG_NOSIGNAL);
        return sent > 0 ? static_cast<std::size_t>(sent) : 0;
    }
    // Tells the other end that nothing more comes.
    template <class Handler> void end_output(Handler handler) {
        if (tls_) return tls_->async_shutdown(std::move(handler));
        error_code ignored;
        socket_.shutdown(tcp::socket::shutdown_send, ignored);
        asio::post(socket_.get_executor(),
                   [handler = std::move(handler)]() mutable { handler(error_code{}); });
    }

    [[nodiscard]] bool is_open() const { return socket_.is_open(); }
    // Handlers under way are called later, with an error.
    void close() {
        error_code ignored;
        socket_.close(ignored);
    }
    // Latency counts: messages are written whole.
    void disable_delay() {
        error_code ignored;
        socket_.set_option(tcp::no_delay{true}, ignored);
    }

private:
    tcp::socket socket_;
    std::optional<asio::ssl::stream<tcp::socket&>> tls_;
};

} // namespace semel::edge
