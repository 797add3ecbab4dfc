// More keys than memory may grow with: the gateway as a process of its own, on SQLite.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>

#include "http/long_form.hpp"
#include "http/support/client.hpp"
#include "http/support/gateway_process.hpp"
#include "http/support/upstream.hpp"

namespace semel::edge::many_keys_test {
namespace {

using namespace support;

constexpr int clients = 64; // so that commits are shared
constexpr int batch = 20;   // requests that a client sends at once
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t megabytes_max = 400; // mostly the sanitizer's own
const int little_quarantine = [] {
    // What is free stays resident for as long as the sanitizer watches it.
    const char* const given = std::getenv("ASAN_OPTIONS");
    const std::string all = (given == nullptr ? "" : std::string{given} + ":");
    return ::setenv("ASAN_OPTIONS", (all + "quarantine_size_mb=16").c_str(), 1);
}();
#else
constexpr std::size_t megabytes_max = 100;
#endif

std::size_t megabytes_resident(pid_t of) {
    std::ifstream file{"/proc/" + std::to_string(of) + "/statm"};
    std::size_t pages = 0, resident = 0;
    file >> pages >> resident;
    return resident * 4 / 1'024;
}

// A quarter of the clients, in turn. Returns how many of `count` keys were executed.
int flood(std::uint16_t port, int quarter, int count) {
    std::vector<client> mine;
    for (int i = 0; i < clients / 4; ++i) mine.emplace_back(port);
    int executed = 0;
    int next = 0;
    while (next < count) {
        for (client& one : mine) {
            std::string all;
            for (int i = 0; i < batch; ++i) {
                all += post_text({.key = std::to_string(quarter) + "-" + std::to_string(next++)});
            }
            one.send(all);
        }
        for (client& one : mine) {
            for (int i = 0; i < batch; ++i) executed += one.receive().status == 201 ? 1 : 0;
        }
    }
    return executed;
}

class folder {
public:
    folder() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        path_ = ::mkdtemp(name.data());
    }
    ~folder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] std::string url() const { return "sqlite:" + path_ + "/records.db"; }

private:
    std::string path_;
};

TEST(ManyKeys, EachIsExecutedOnceInBoundedMemory) {
    constexpr int round = clients / 4 * batch;
    const int each = (long_form ? 250'000 : 5'000) / round * round + round;
    const folder place;
    upstream behind;
    behind.remember_nothing();
    const gateway_process gateway{{"--listen", "127.0.0.1:0", "--upstream",
                                   "http://127.0.0.1:" + std::to_string(behind.port()), "--store",
                                   place.url(), "--single-tenant"}};
    ASSERT_NE(gateway.port(), 0);

    std::vector<std::future<int>> all;
    for (int quarter = 0; quarter < 4; ++quarter) {
        all.push_back(std::async(std::launch::async,
                                 [&, quarter] { return flood(gateway.port(), quarter, each); }));
    }
    int executed = 0;
    for (auto& one : all) executed += one.get();

    EXPECT_EQ(executed, 4 * each);
    EXPECT_EQ(behind.requests(), 4 * each);
    const answer again = post(gateway.port(), {.key = "3-17"});
    EXPECT_EQ(again.status, 201);
    EXPECT_TRUE(again.replayed());
    const std::size_t megabytes = megabytes_resident(gateway.id());
    EXPECT_LT(megabytes, megabytes_max);
    if (long_form) std::cout << executed << " keys, " << megabytes << " MB resident\n";
}

} // namespace
} // namespace semel::edge::many_keys_test
