// A Beast server as a user would write one: a loop on one thread, a coroutine per connection.
#pragma once

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/write.hpp>

#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "semel/http/beast.hpp"

namespace semel::http::beast_test {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;

using route_call = std::function<asio::awaitable<beast_response>(beast_incoming)>;

class server {
public:
    server(const beast_guard& guard, route_call route)
        : guard_(guard),
          route_(std::move(route)),
          acceptor_(loop_, {asio::ip::make_address("127.0.0.1"), 0}),
          port_(acceptor_.local_endpoint().port()) {
        asio::co_spawn(loop_, accept(), asio::detached);
        thread_ = std::thread{[this] { loop_.run(); }};
    }
    ~server() {
        loop_.stop();
        thread_.join();
    }
    server(const server&) = delete;
    server& operator=(const server&) = delete;

    [[nodiscard]] std::uint16_t port() const { return port_; }

private:
    asio::awaitable<void> accept() {
        while (true) {
            tcp::socket client = co_await acceptor_.async_accept(asio::use_awaitable);
            beast::tcp_stream stream{std::move(client)};
            auto serving = serve(std::move(stream));
            asio::co_spawn(loop_, std::move(serving), asio::detached);
        }
    }

    asio::awaitable<void> serve(beast::tcp_stream stream) {
        beast::flat_buffer buffer;
        for (bool more = true; more;) {
            auto reading = guard_.read(stream, buffer);
            auto request = co_await std::move(reading);
            if (!request) co_return;
            auto answering = route_(*std::move(request));
            beast_response answer = co_await std::move(answering);
            more = answer.keep_alive();
            co_await beast::http::async_write(stream, answer, asio::use_awaitable);
        }
        boost::system::error_code ignored; // the client may have gone
        stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
    }

    asio::io_context loop_;
    const beast_guard& guard_;
    const route_call route_;
    tcp::acceptor acceptor_;
    const std::uint16_t port_;
    std::thread thread_;
};

} // namespace semel::http::beast_test
