#include "conformance/helpers.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <thread>
#include <vector>

#include "conformance/text.hpp"

namespace semel::conformance {

void together(std::size_t threads, const std::function<void(std::size_t)>& work) {
    std::latch ready{static_cast<std::ptrdiff_t>(threads)};
    std::vector<std::thread> all;
    for (std::size_t i = 0; i < threads; ++i) {
        all.emplace_back([&, i] {
            ready.arrive_and_wait();
            work(i);
        });
    }
    for (auto& one : all) one.join();
}

record_id id_of(std::string key) {
    return {.tenant = "acme", .operation = "ORDER_CREATE", .key = std::move(key)};
}

commands::begin begin_of(std::uint64_t owner) {
    return {.owner = {.high = owner, .low = ~owner}, .lease = std::chrono::seconds{30}};
}

stored_result result_of(std::string body) {
    stored_result it{.body = std::move(body), .type = "text/plain"};
    seal(it);
    return it;
}

answer ask(store& whom, const record_id& id, command what, time_point now) {
    return whom.call(id, std::move(what), now).value().said;
}

claim must_start(store& whom, const record_id& id, std::uint64_t owner, time_point now) {
    const answer got = ask(whom, id, begin_of(owner), now);
    const auto* started = std::get_if<answers::started>(&got);
    EXPECT_NE(started, nullptr) << text(id) << ": " << text(got);
    return started == nullptr ? claim{} : started->by;
}

} // namespace semel::conformance
