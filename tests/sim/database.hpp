// The one simulated database: records, a fence floor and a clock of its own that can step.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "semel/core/record_machine.hpp"
#include "semel/store.hpp"
#include "sim/scene.hpp"

namespace semel::sim {

// One atomic step, as an observer beside the database sees it.
struct database_step {
    const record_id& id;
    const command& what;
    const record* before = nullptr;
    const record* after = nullptr; // null: not there
    const answer& said;
    time_point now = {};
    bool changed = false;
};

// A transaction's one write: claim and completion in a single step.
struct transaction_step {
    const record_id& id;
    const record* before = nullptr;
    const record& after;
    time_point now = {};
    unsigned effects = 0; // business rows that committed with it
};

class database {
public:
    using observer = std::function<void(const database_step&)>;
    using transaction_observer = std::function<void(const transaction_step&)>;

    explicit database(scene& with) : scene_(with) {}

    void watch(observer steps, transaction_observer transactions) {
        observer_ = std::move(steps);
        transaction_observer_ = std::move(transactions);
    }

    [[nodiscard]] time_point now() const { return begin_ + scene_.loop.now() + stepped_; }
    void step_clock(duration by) {
        stepped_ += by;
        highest_ = std::max(highest_, stepped_);
    }
    // A lease that was given when the clock was ahead lasts so much longer.
    [[nodiscard]] duration set_back() const { return highest_ - stepped_; }

    reply apply(const record_id& id, const command& what, std::optional<time_point> now);
    void save(const record_id& id, const record& after, unsigned effects);

    [[nodiscard]] const std::map<record_id, record>& records() const { return records_; }
    [[nodiscard]] const record* find(const record_id& id) const;
    [[nodiscard]] instant at(std::optional<time_point> given) const {
        return {.now = given.value_or(now()), .fence_floor = floor_};
    }
    // Called after every end of an attempt at this record, until `serial` is dropped.
    void listen(std::uint64_t serial, record_id id, std::function<void()> heard) {
        listeners_[serial] = {std::move(id), std::move(heard)};
    }
    void stop_listening(std::uint64_t serial) { listeners_.erase(serial); }

    // Flips a byte of a stored result, as bad storage does.
    void damage(const record_id& id, std::size_t byte);

private:
    struct listener {
        record_id id;
        std::function<void()> heard;
    };
    void tell(const record_id& id, const record* before);

    scene& scene_;
    const time_point begin_{std::chrono::seconds{1'800'000'000}};
    duration stepped_ = {};
    duration highest_ = {}; // of stepped_, so far
    std::uint64_t floor_ = 0;
    std::map<record_id, record> records_;
    observer observer_;
    transaction_observer transaction_observer_;
    std::map<std::uint64_t, listener> listeners_;
};

} // namespace semel::sim
