#include "store/laned_store.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace semel {
namespace {

class quick_backend final : public batch_backend {
public:
    void execute(std::span<job* const> batch) override {
        for (job* one : batch) one->answer = reply{.said = answers::removed{}};
    }
};

class quick_store final : public laned_store {
public:
    quick_store() : laned_store(backends(), std::make_unique<quick_backend>(), {}) {}
    ~quick_store() override { drain(); }

    using laned_store::drain;

    result<sweep_report> sweep(const sweep_request&) override { return sweep_report{}; }
    result<std::vector<audit_entry>> audit(const record_id&) override {
        return std::vector<audit_entry>{};
    }
    result<record_page> search(const record_query&) override { return record_page{}; }
    [[nodiscard]] store_traits traits() const override { return {}; }

private:
    static std::vector<std::unique_ptr<batch_backend>> backends() {
        std::vector<std::unique_ptr<batch_backend>> all;
        for (int i = 0; i < 4; ++i) all.push_back(std::make_unique<quick_backend>());
        return all;
    }
};

record_id id_of(std::size_t number) {
    return {.tenant = "t", .operation = "o", .key = std::to_string(number)};
}

// Completions that submit the next command, to any lane, until the store has stopped.
class chains {
public:
    explicit chains(store& on) : on_(on) {}
    virtual ~chains() = default;

    void start() {
        for (std::size_t at = 0; at < count; ++at) go_on(at * 1'000'000);
        while (answered_ < 4 * count) std::this_thread::yield();
    }

    // Every one has heard that it is over, and nothing more.
    void expect_all_stopped() const {
        EXPECT_EQ(stopped_, count);
        EXPECT_EQ(answered_, submitted_);
    }

protected:
    virtual void before_the_next(std::size_t) {}

    store& on() { return on_; }

private:
    static constexpr std::size_t count = 8;

    void go_on(std::size_t number) {
        ++submitted_;
        envelope next{.id = id_of(number), .what = commands::remove{}};
        on_.submit(std::move(next), [this, number](const result<reply>& got) {
            ++answered_;
            if (!got) return end(got.error());
            before_the_next(number);
            go_on(number + 1);
        });
    }

    void end(const failure& why) {
        EXPECT_EQ(why.code, errc::stopped);
        EXPECT_EQ(why.possible, effect::none);
        ++stopped_;
    }

    store& on_;
    std::atomic<std::size_t> submitted_ = 0;
    std::atomic<std::size_t> answered_ = 0;
    std::atomic<std::size_t> stopped_ = 0;
};

class blocking_chains final : public chains {
public:
    using chains::chains;

private:
    void before_the_next(std::size_t number) override {
        const auto got = on().call(id_of(number + 7), commands::complete{});
        EXPECT_TRUE(got || got.error().code == errc::stopped);
    }
};

constexpr int rounds = 300;

TEST(LanedStore, DestructionAnswersCompletionsThatSubmitToAnyLane) {
    for (int round = 0; round < rounds; ++round) {
        auto it = std::make_unique<quick_store>();
        chains all{*it};
        all.start();

        it.reset();

        all.expect_all_stopped();
    }
}

TEST(LanedStore, DestructionAnswersCompletionsThatCallAnyLane) {
    for (int round = 0; round < rounds; ++round) {
        auto it = std::make_unique<quick_store>();
        blocking_chains all{*it};
        all.start();

        it.reset();

        all.expect_all_stopped();
    }
}

void wait_until_it_drains(store& it) {
    while (it.call(id_of(2), commands::lookup{})) std::this_thread::yield();
}

// What a begin was promised: the attempt is known to the store, and its end has to be.
TEST(LanedStore, CompletionOfAnAdmittedBeginIsServedWhileDraining) {
    auto it = std::make_unique<quick_store>();
    std::atomic<int> served = 0;
    const auto count = [&](const result<reply>& got) { served += got ? 1 : 0; };
    it->submit({.id = id_of(1), .what = commands::begin{}}, [&](const result<reply>&) {
        wait_until_it_drains(*it);
        it->submit({.id = id_of(1), .what = commands::renew{}}, count);
        it->submit({.id = id_of(1), .what = commands::complete{}}, count);
    });

    it->drain();

    EXPECT_EQ(served, 2);
}

TEST(LanedStore, DrainedStoreAnswersThatItHasStopped) {
    quick_store it;
    it.drain();
    std::vector<errc> heard;
    const auto listen = [&](const result<reply>& got) { heard.push_back(got.error().code); };
    std::vector<submission> many;
    many.push_back({.what = {.id = id_of(1), .what = commands::fail{}}, .done = listen});

    it.submit({.id = id_of(1), .what = commands::begin{}}, listen);
    it.submit({.id = id_of(1), .what = commands::complete{}}, listen);
    it.submit_all(std::move(many));
    heard.push_back(it.call(id_of(1), commands::renew{}).error().code);

    EXPECT_EQ(heard, std::vector(4, errc::stopped));
}

} // namespace
} // namespace semel
