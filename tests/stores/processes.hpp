// Eight processes of eight threads run the same thousand requests on one store: each takes effect
// once, and everybody gets the same bytes.
//
//     expect_one_effect_per_key("redis://127.0.0.1:6379?prefix=test:1:");
//
// Call it where no thread of the test's own is running: it forks.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "semel/engine.hpp"
#include "semel/open.hpp"

namespace semel::test {

struct fleet_options {
    int processes = 8;
    int threads = 8; // in each of them
    int keys = 1'000;
};

// What all processes see of one key.
struct fleet_slot {
    std::atomic<int> executions = 0;
    char answer[64] = {}; // written by the one that executes, before anybody can replay it
};

// Memory that forked processes share.
class fleet_slots {
public:
    explicit fleet_slots(int count) : bytes_(sizeof(fleet_slot) * static_cast<std::size_t>(count)) {
        void* const at =
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc{};
        slots_ = static_cast<fleet_slot*>(at);
        for (int i = 0; i < count; ++i) new (slots_ + i) fleet_slot;
    }
    fleet_slots(const fleet_slots&) = delete;
    fleet_slots& operator=(const fleet_slots&) = delete;
    ~fleet_slots() { ::munmap(slots_, bytes_); }

    fleet_slot& operator[](int key) { return slots_[key]; }

private:
    const std::size_t bytes_;
    fleet_slot* slots_ = nullptr;
};

class fleet {
public:
    fleet(std::string url, const fleet_options& size)
        : url_(std::move(url)), size_(size), slots_(size.keys) {}

    // Number of processes in which somebody got anything but the one answer.
    int run() {
        std::vector<pid_t> children;
        for (int i = 0; i < size_.processes; ++i) {
            const pid_t child = ::fork();
            if (child == 0) ::_exit(run_process(i));
            children.push_back(child);
        }
        int wrong = 0;
        for (const pid_t child : children) {
            int status = 0;
            ::waitpid(child, &status, 0);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++wrong;
        }
        return wrong;
    }

    int executions(int key) { return slots_[key].executions; }

private:
    int run_process(int process) {
        auto opened = semel::open_store(url_);
        if (!opened) {
            std::fprintf(stderr, "%s\n", describe(opened.error()).c_str());
            return 1;
        }
        engine with{*std::move(opened)};
        std::atomic<int> wrong = 0;
        std::vector<std::thread> all;
        for (int i = 0; i < size_.threads; ++i) {
            all.emplace_back([&, i] { wrong += run_thread(with, process, i); });
        }
        for (auto& one : all) one.join();
        return wrong == 0 ? 0 : 1;
    }

    // Half of the threads start at the same place, the others all over.
    int run_thread(engine& with, int process, int thread) {
        const int from = thread % 2 == 0 ? 0 : (process * size_.threads + thread) * 15;
        int wrong = 0;
        for (int n = 0; n < size_.keys; ++n) {
            const int key = (n + from) % size_.keys;
            const auto got = with.execute<std::string>(
                {.tenant = "acme", .operation = "ORDER_CREATE", .key = std::to_string(key)},
                [&](execution& run) { return work(key, process, thread, run.fence()); });
            const bool right = got.has_value() && got.value() == slots_[key].answer;
            if (!right) ++wrong;
        }
        return wrong;
    }

    std::string work(int key, int process, int thread, std::uint64_t fence) {
        const std::string made = std::to_string(key) + " by " + std::to_string(process) + "." +
                                 std::to_string(thread) + " fence " + std::to_string(fence);
        if (++slots_[key].executions == 1) std::strcpy(slots_[key].answer, made.c_str());
        return made;
    }

    const std::string url_;
    const fleet_options size_;
    fleet_slots slots_;
};

inline void expect_one_effect_per_key(const std::string& url, const fleet_options& size = {}) {
    fleet all{url, size};

    const int wrong = all.run();

    EXPECT_EQ(wrong, 0) << "processes in which somebody got another answer, or none";
    for (int key = 0; key < size.keys; ++key) EXPECT_EQ(all.executions(key), 1) << key;
}

} // namespace semel::test
