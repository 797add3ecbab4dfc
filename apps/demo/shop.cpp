#include "demo/shop.hpp"

#include <atomic>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "semel/ids.hpp"

namespace semel::demo {
namespace {

struct counts {
    std::atomic<int> orders = 0;
    std::atomic<int> payments = 0;
};

http::response answer(int status, const nlohmann::json& body) {
    return {.status = status,
            .headers = {{"Content-Type", "application/json"}},
            .body = body.dump() + "\n"};
}

http::response made(const char* kind, int number) {
    http::response created = answer(201, {{kind, number}});
    created.headers.add("Location", fmt::format("/{}s/{}", kind, number));
    return created;
}

http::response serve(const http::request_head& head, counts& all) {
    const bool posts = head.method == "POST";
    if (posts && head.path() == "/orders") return made("order", ++all.orders);
    if (posts && head.path() == "/payments") return made("payment", ++all.payments);
    if (head.method == "GET" && head.path() == "/") {
        return answer(200, {{"orders", all.orders.load()}, {"payments", all.payments.load()}});
    }
    return answer(404, {{"error", "this shop has POST /orders, POST /payments and GET /"}});
}

std::unique_ptr<edge::server> started() {
    const auto all = std::make_shared<counts>(); // shared by the copies of the handler
    auto serving = [all](edge::served_request asked, edge::reply to) {
        to(serve(asked.what.head, *all));
    };
    return edge::server::start({}, std::move(serving)).value();
}

config::route_entry route(std::string operation, std::string path, http::key_need need) {
    config::route_entry made;
    made.route.operation = std::move(operation);
    made.route.path = std::move(path);
    made.route.need = need;
    made.route.principal = {"shared"}; // the shop has no logins
    return made;
}

} // namespace

shop::shop() : server_(started()) {}

config::config gateway_config(const std::string& upstream, const std::string& file) {
    config::config made;
    made.store.url.written = made.store.url.text = "sqlite:" + file;
    made.tenants.source = config::tenant_kind::single;
    made.tenants.single.name = "demo";
    made.gateway.upstream = upstream;
    made.routes.push_back(route("ORDER_CREATE", "/orders", http::key_need::optional));
    made.routes.push_back(route("PAYMENT_CREATE", "/payments", http::key_need::required));
    return made;
}

std::string guide(const std::string& gateway_address) {
    // A file may remember the keys of earlier days.
    const std::string key = new_ulid().to_string();
    const auto post = [&](const std::string& body) {
        return fmt::format("  curl -i http://{}/orders -H 'Content-Type: application/json' "
                           "-H 'Idempotency-Key: \"{}\"' -d '{}'\n",
                           gateway_address, key, body);
    };
    const std::string book = R"({"item":"book"})";
    return "\nTry, in another terminal:\n\n"
           "1. The first request makes order 1. The answer's record is durable before you see "
           "it.\n" +
           post(book) +
           "\n2. The repeat gets the same answer, with Idempotent-Replayed: true. There is still "
           "one order\n   (curl http://" +
           gateway_address + "/ counts them).\n" + post(book) +
           "\n3. Another request under the same key is refused: 422.\n" +
           post(R"({"item":"piano"})") +
           "\nPOST /payments insists on a key: without one it is a 400. The shop has no logins, so "
           "all "
           "clients are one\nprincipal; docs/http.md says how answers are kept apart. Ctrl-C ends "
           "all.\n\n";
}

} // namespace semel::demo
