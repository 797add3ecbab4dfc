// Callers that go on whatever happens to the server, and what they were told.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "redis_fixture.hpp"

namespace semel::test {

// Threads that begin and complete one record after the other, and write down what they were told.
class load {
public:
    struct told {
        claim by = {};
        bool stored = false;
    };

    load(store& on, std::size_t threads) : store_(on) {
        for (std::size_t i = 0; i < threads; ++i) {
            threads_.emplace_back([this, i] { run(i); });
        }
    }
    ~load() { stop(); }

    void stop() {
        stopping_ = true;
        for (auto& one : threads_) {
            if (one.joinable()) one.join();
        }
    }

    // Only after stop().
    [[nodiscard]] const std::map<std::string, told>& all() const { return told_; }
    [[nodiscard]] std::size_t stored() const { return stored_; }
    [[nodiscard]] std::size_t failures() const { return failures_; }
    [[nodiscard]] std::size_t doubts() const { return doubts_; }
    [[nodiscard]] duration longest() const { return duration{longest_}; }

    // Work goes on: this many more have been stored.
    void wait_for_stored(std::size_t more) const {
        const std::size_t goal = stored_ + more;
        const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{30};
        while (stored_ < goal && std::chrono::steady_clock::now() < until) {
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        EXPECT_GE(stored_, goal) << "nothing goes on";
    }

private:
    void run(std::size_t worker) {
        for (std::uint64_t n = 0; !stopping_; ++n) {
            const std::string key = std::to_string(worker) + "-" + std::to_string(n);
            const auto by = begin(id_of(key), worker * 1'000'000 + n + 1);
            if (!by) continue;
            const bool stored = complete(id_of(key), *by, key);
            if (stored) ++stored_;
            const std::lock_guard lock{mutex_};
            told_[key] = {.by = *by, .stored = stored};
        }
    }

    // The claim, if it was certainly won.
    std::optional<claim> begin(const record_id& id, std::uint64_t owner) {
        const auto got = call(id, begin_of(owner));
        const auto* started = got ? std::get_if<answers::started>(&got->said) : nullptr;
        if (started == nullptr) return std::nullopt;
        return started->by;
    }

    // Again and again, as an engine does; true once it is certainly stored.
    bool complete(const record_id& id, const claim& by, const std::string& body) {
        for (int i = 0; i < 200; ++i) {
            const auto got = call(id, complete_of(by, body));
            if (got) return std::holds_alternative<answers::stored>(got->said);
            std::this_thread::sleep_for(std::chrono::milliseconds{20});
        }
        return false;
    }

    result<reply> call(const record_id& id, command what) {
        const auto begun = std::chrono::steady_clock::now();
        auto got = store_.call(id, std::move(what));
        const auto took =
            std::chrono::duration_cast<duration>(std::chrono::steady_clock::now() - begun).count();
        duration::rep longest = longest_;
        while (took > longest && !longest_.compare_exchange_weak(longest, took)) {
        }
        if (!got) ++failures_;
        if (!got && got.error().possible == effect::unknown) ++doubts_;
        return got;
    }

    store& store_;
    std::atomic<bool> stopping_ = false;
    std::atomic<std::size_t> stored_ = 0;
    std::atomic<std::size_t> failures_ = 0;
    std::atomic<std::size_t> doubts_ = 0;
    std::atomic<duration::rep> longest_ = 0;
    std::mutex mutex_;
    std::map<std::string, told> told_; // guarded by mutex_
    std::vector<std::thread> threads_;
};

// A connection that broke while nobody used it is noticed by the next one who does.
inline result<reply> looked_up(store& in, const record_id& id) {
    auto got = in.call(id, commands::lookup{});
    for (int i = 0; i < 200 && !got; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        got = in.call(id, commands::lookup{});
    }
    return got;
}

// Every definite answer is still true.
inline void expect_kept(store& in, const load& done) {
    for (const auto& [key, told] : done.all()) {
        const auto got = looked_up(in, id_of(key)).value();
        const auto& found = std::get<answers::found>(got.said).current;
        ASSERT_TRUE(found) << "a claim was lost: " << key;
        EXPECT_EQ(found->holder, told.by) << key;
        if (told.stored) {
            EXPECT_EQ(found->state, record_state::succeeded) << "a result was lost: " << key;
            EXPECT_EQ(found->result.body, key);
        }
    }
}

} // namespace semel::test
