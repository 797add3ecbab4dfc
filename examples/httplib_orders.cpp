// A cpp-httplib server whose POST /orders takes effect once per Idempotency-Key.
#include <iostream>
#include <string>
#include <thread>

#include <httplib.h>
#include <semel/engine.hpp>
#include <semel/http/httplib.hpp>
#include <semel/open.hpp>

int main() {
    const auto gate =
        semel::http::gate::make({.routes = {{.operation = "ORDER_CREATE", .path = "/orders"}},
                                 .tenants = semel::http::single_tenant{"acme"}})
            .value();
    semel::engine engine{
        semel::open_store("memory:").value(), {}, {.operations = gate.operations()}};
    semel::http::httplib_guard guard{engine, gate};

    int orders = 0;
    httplib::Server server;
    server.Post("/orders", guard.protect([&](const httplib::Request&, httplib::Response& answer) {
        answer.status = 201; // the effect: a new order
        answer.set_content("order " + std::to_string(++orders), "text/plain");
    }));

    const int port = server.bind_to_any_port("127.0.0.1");
    std::thread serving{[&] { server.listen_after_bind(); }};
    httplib::Client client{"127.0.0.1", port};
    const httplib::Headers key{{"Idempotency-Key", "cart-17"}};
    const auto first = client.Post("/orders", key, R"({"item": "book"})", "application/json");
    const auto again = client.Post("/orders", key, R"({"item":"book"})", "application/json");
    const auto other = client.Post("/orders", key, R"({"item": "car"})", "application/json");
    server.stop();
    serving.join();

    if (!first || !again || !other) return 1;
    std::cout << first->status << ' ' << first->body << '\n'
              << again->status << ' ' << again->body
              << ", replayed: " << again->get_header_value("Idempotent-Replayed") << '\n'
              << other->status << ' ' << other->body << '\n';
    return orders == 1 && again->body == first->body && other->status == 422 ? 0 : 1;
}
