// Time, threads and chance in the test's hands: nothing happens until it is asked for. One thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "semel/base/runtime.hpp"

namespace semel::support {

class manual_runtime final : public runtime {
public:
    [[nodiscard]] local_time now() const override { return now_; }
    void at(local_time when, task what) override {
        timers_.push_back({when, serial_++, std::move(what)});
    }
    void post(task what) override { posted_.push_back(std::move(what)); }
    void chore(task what) override { posted_.push_back(std::move(what)); }
    [[nodiscard]] std::uint64_t random() override { return ++random_; }

    // Lets time pass, timer after timer; after each, what was posted runs.
    void pass(duration how_long) {
        const local_time until = now_ + how_long;
        for (auto next = first(); next != timers_.end() && next->when <= until; next = first()) {
            now_ = std::max(now_, next->when);
            task due = std::move(next->what);
            timers_.erase(next);
            in_timer_ = true;
            due();
            in_timer_ = false;
            run_posted();
        }
        now_ = until;
    }
    // Time goes on and no timer runs: the machine was suspended, and the first tick is still to
    // come.
    void sleep(duration how_long) { now_ += how_long; }
    void run_posted() {
        while (!posted_.empty()) {
            task next = std::move(posted_.front());
            posted_.pop_front();
            next();
        }
    }

    // As a runtime does when it ends: what waits in it may hold on to whoever holds the runtime.
    void drop_timers() { std::exchange(timers_, {}).clear(); }

    [[nodiscard]] std::size_t timers() const { return timers_.size(); }
    // A task of at() runs right now.
    [[nodiscard]] bool in_timer() const { return in_timer_; }

private:
    struct timer {
        local_time when;
        std::uint64_t serial;
        task what;
    };
    std::vector<timer>::iterator first() {
        return std::min_element(timers_.begin(), timers_.end(), [](const auto& a, const auto& b) {
            return std::pair{a.when, a.serial} < std::pair{b.when, b.serial};
        });
    }

    local_time now_{std::chrono::hours{1}};
    std::vector<timer> timers_;
    std::deque<task> posted_;
    std::uint64_t serial_ = 0;
    std::uint64_t random_ = 0;
    bool in_timer_ = false;
};

} // namespace semel::support
