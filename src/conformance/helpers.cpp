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

namespace {

constexpr duration patience = std::chrono::seconds{10};

// A store that others keep busy may say that it timed out and did nothing: then it is asked again,
// as the engine would.
template <class Question> auto patiently(Question ask_once) {
    const local_time until = local_clock::now() + patience;
    while (true) {
        auto got = ask_once();
        const bool busy =
            !got && got.error().code == errc::timed_out && got.error().possible == effect::none;
        if (!busy || local_clock::now() >= until) return std::move(got).value();
    }
}

} // namespace

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

answer ask(store& whom, const record_id& id, const command& what, time_point now) {
    return patiently([&] { return whom.call(id, what, now); }).said;
}

std::size_t swept(store& whom, time_point now) {
    return patiently([&] { return whom.sweep({.now = now}); }).removed;
}

claim must_start(store& whom, const record_id& id, std::uint64_t owner, time_point now) {
    const answer got = ask(whom, id, begin_of(owner), now);
    const auto* started = std::get_if<answers::started>(&got);
    EXPECT_NE(started, nullptr) << text(id) << ": " << text(got);
    return started == nullptr ? claim{} : started->by;
}

} // namespace semel::conformance
