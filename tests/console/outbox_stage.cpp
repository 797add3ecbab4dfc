// The console before an outbox with dead letters, on a real listener: for the pages of the outbox.
// Prints its address and ends with its input.
#include <iostream>
#include <string>

#include "edge/console/console.hpp"
#include "edge/server/server.hpp"
#include "semel/store/memory.hpp"
#include "support/dead_letters.hpp"

namespace {

using namespace semel;
using namespace semel::edge;

std::optional<http::grant> grant_of(const fingerprint& hash) {
    using http::scope;
    if (hash == fingerprint::raw("admin")) return {{"ops", http::scope_set{scope::admin}}};
    if (hash == fingerprint::raw("operator")) return {{"ops", http::scope_set{scope::operate}}};
    if (hash == fingerprint::raw("reader")) return {{"acme", http::scope_set{scope::read}}};
    return std::nullopt;
}

} // namespace

int main() {
    const auto timers = open_system_runtime();
    const auto records = open_memory_store();
    const support::dead_letters outbox{3, R"({"text":"<img src=x onerror=a>"})"};
    console_options with{.grant_of_hash = grant_of, .store = "memory", .outbox = outbox.opener()};
    with.grant_of = [](std::string_view token) { return grant_of(fingerprint::raw(token)); };
    console pages{*records, *timers, std::move(with)};
    const auto server = edge::server::start({.threads = 1}, pages.requests()).value();
    std::cout << "http://" << server->address().text() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
    }
}
