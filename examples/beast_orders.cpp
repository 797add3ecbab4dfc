// A Boost.Beast server whose POST /orders takes effect once per Idempotency-Key.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <functional>
#include <iostream>
#include <string>
#include <thread>

#include <semel/engine.hpp>
#include <semel/http/beast.hpp>
#include <semel/open.hpp>

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using semel::http::beast_guard;
using semel::http::beast_request;
using semel::http::beast_response;

namespace {

using route = std::function<asio::awaitable<beast_response>(semel::http::beast_incoming)>;

asio::awaitable<void> serve(beast::tcp_stream stream, const beast_guard& guard, const route& to) {
    beast::flat_buffer buffer;
    for (bool more = true; more;) {
        auto reading = guard.read(stream, buffer);
        auto request = co_await std::move(reading);
        if (!request) co_return; // the client has gone
        auto answering = to(*std::move(request));
        auto answer = co_await std::move(answering);
        more = answer.keep_alive();
        co_await beast::http::async_write(stream, answer, asio::use_awaitable);
    }
}

asio::awaitable<void> accept(tcp::acceptor& acceptor, const beast_guard& guard, const route& to) {
    while (true) {
        tcp::socket client = co_await acceptor.async_accept(asio::use_awaitable);
        auto serving = serve(beast::tcp_stream{std::move(client)}, guard, to);
        asio::co_spawn(acceptor.get_executor(), std::move(serving), asio::detached);
    }
}

beast_response post(tcp::endpoint shop, const std::string& body) {
    asio::io_context loop;
    beast::tcp_stream stream{loop};
    stream.connect(shop);
    beast_request request{beast::http::verb::post, "/orders", 11, body};
    request.set("Host", "shop.example");
    request.set("Idempotency-Key", "cart-17");
    request.set("Content-Type", "application/json");
    request.prepare_payload();
    beast::http::write(stream, request);
    beast::flat_buffer buffer;
    beast_response answer;
    beast::http::read(stream, buffer, answer);
    return answer;
}

} // namespace

int main() {
    const auto gate =
        semel::http::gate::make({.routes = {{.operation = "ORDER_CREATE", .path = "/orders"}},
                                 .tenants = semel::http::single_tenant{"acme"}})
            .value();
    semel::engine engine{
        semel::open_store("memory:").value(), {}, {.operations = gate.operations()}};
    const beast_guard guard{engine, gate};

    int orders = 0;
    const route create = guard.protect([&](const beast_request& request) {
        beast_response answer{beast::http::status::created, request.version()};
        answer.body() = "order " + std::to_string(++orders); // the effect: a new order
        return answer;
    });

    asio::io_context loop;
    tcp::acceptor acceptor{loop, {asio::ip::make_address("127.0.0.1"), 0}};
    const tcp::endpoint shop = acceptor.local_endpoint();
    asio::co_spawn(loop, accept(acceptor, guard, create), asio::detached);
    std::thread serving{[&] { loop.run(); }};
    const beast_response first = post(shop, R"({"item": "book"})");
    const beast_response again = post(shop, R"({"item":"book"})");
    const beast_response other = post(shop, R"({"item": "car"})");
    loop.stop();
    serving.join();

    std::cout << first.result_int() << ' ' << first.body() << '\n'
              << again.result_int() << ' ' << again.body()
              << ", replayed: " << again["Idempotent-Replayed"] << '\n'
              << other.result_int() << ' ' << other.body() << '\n';
    const bool once = orders == 1 && again.body() == first.body() && other.result_int() == 422;
    return once ? 0 : 1;
}
