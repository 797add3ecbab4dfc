// The center with real threads, a real clock and stores that answer on threads of their own.
#include <atomic>
#include <filesystem>
#include <future>
#include <stdlib.h>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "edge/center/center.hpp"
#include "semel/base/runtime.hpp"
#include "semel/open.hpp"

namespace semel::edge::center_threads {
namespace {

using json = nlohmann::json;

class CenterThreads : public testing::TestWithParam<const char*> {
protected:
    CenterThreads() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        const std::string url = GetParam() == std::string{"memory"}
                                    ? std::string{"memory:"}
                                    : "sqlite:" + folder_ + "/records.db";
        store_ = open_store(url).value();
    }
    ~CenterThreads() override {
        store_.reset();
        std::filesystem::remove_all(folder_);
    }

    static center_options options() {
        center_options made;
        made.grant_of = [](std::string_view) {
            return std::optional{
                http::grant{.tenant = "acme", .may = http::scope_set{http::scope::use}}};
        };
        made.defaults->lease = std::chrono::minutes{10}; // no take-over on a slow machine
        made.wait_max = std::chrono::minutes{10};
        return made;
    }

    // Sends and waits for the answer, as a client does.
    static std::pair<int, json> post(center& to, std::string path, const json& body) {
        auto answered = std::make_shared<std::promise<http::response>>();
        auto got = answered->get_future();
        to.serve({.what = {.head = {.method = "POST",
                                    .target = std::move(path),
                                    .headers = {{"Authorization", "Bearer t"}}},
                           .body = body.dump()}},
                 [answered](http::response made) { answered->set_value(std::move(made)); });
        const http::response made = got.get();
        return {made.status, json::parse(made.body)};
    }

    std::string folder_;
    std::shared_ptr<runtime> timers_ = open_system_runtime();
    std::unique_ptr<store> store_;
};

TEST_P(CenterThreads, EveryKeyIsStartedOnceAndAllGetItsResult) {
    center at{*store_, *timers_, options()};
    constexpr int threads = 8;
    constexpr int keys = 25;
    std::atomic<int> started = 0;
    std::atomic<int> replayed = 0;
    std::atomic<int> other = 0;

    const auto client = [&] {
        for (int i = 0; i < keys; ++i) {
            const std::string key = "k" + std::to_string(i);
            const json id = {{"operation", "O"}, {"key", key}};
            json begin = id;
            begin["wait"] = "10m";
            const auto [status, body] = post(at, "/v1/begin", begin);
            if (status == 200 && body["outcome"] == "started") {
                ++started;
                json complete = id;
                complete["attempt"] = body["attempt"];
                complete["result"] = {{"text", key}};
                if (post(at, "/v1/complete", complete).first != 200) ++other;
            } else if (status == 200 && body["result"]["text"] == key) {
                ++replayed;
            } else {
                ++other;
            }
        }
    };
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) all.emplace_back(client);
    for (auto& one : all) one.join();

    EXPECT_EQ(started, keys);
    EXPECT_EQ(replayed, keys * (threads - 1));
    EXPECT_EQ(other, 0);
    EXPECT_EQ(at.counts().waiting, 0U);
}

TEST_P(CenterThreads, ItsEndAnswersEverybodyWhoWaits) {
    std::optional<center> at;
    at.emplace(*store_, *timers_, options());
    const json id = {{"operation", "O"}, {"key", "k"}, {"wait", "10m"}};
    ASSERT_EQ(post(*at, "/v1/begin", id).first, 200);
    std::atomic<int> told = 0;
    std::vector<std::thread> waiters;
    for (int i = 0; i < 8; ++i) {
        waiters.emplace_back([&] { told += post(*at, "/v1/begin", id).first == 409 ? 1 : 0; });
    }
    while (at->counts().waiting < 8) std::this_thread::yield();

    at->stop_waiting();
    for (auto& one : waiters) one.join();
    at.reset();

    EXPECT_EQ(told, 8);
}

INSTANTIATE_TEST_SUITE_P(Stores, CenterThreads, testing::Values("memory", "sqlite"),
                         [](const auto& of) { return std::string{of.param}; });

} // namespace
} // namespace semel::edge::center_threads
