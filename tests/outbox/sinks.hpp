// Sinks of the tests' own: one remembers, one does as it is told.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "semel/outbox/relay.hpp"

namespace semel::outbox {

// What all sinks of a test have got. Any thread.
class delivered_log {
public:
    void add(const message& one) {
        const std::lock_guard lock{mutex_};
        all_.push_back(one);
    }
    [[nodiscard]] std::vector<message> all() const {
        const std::lock_guard lock{mutex_};
        return all_;
    }
    [[nodiscard]] std::size_t size() const {
        const std::lock_guard lock{mutex_};
        return all_.size();
    }
    [[nodiscard]] std::multiset<std::string> ids() const {
        std::multiset<std::string> made;
        for (const auto& one : all()) made.insert(one.event.id);
        return made;
    }
    // The payloads of one key, in the order of their delivery.
    [[nodiscard]] std::vector<std::string> of_key(const std::string& key) const {
        std::vector<std::string> made;
        for (const auto& one : all()) {
            if (one.event.key == key) made.push_back(one.event.payload);
        }
        return made;
    }

private:
    mutable std::mutex mutex_;
    std::vector<message> all_; // guarded by mutex_
};

// Answers as `judge` says and logs what was delivered; keeps the order of keys if it is asked to.
class told_sink final : public sink {
public:
    using judge = std::function<delivery(const message&)>;

    explicit told_sink(delivered_log& log, judge says = {}) : log_(log), says_(std::move(says)) {}

    void deliver(std::span<const message> batch, order kept, std::span<delivery> answers) override {
        std::set<std::string> failed;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (kept == order::per_key && failed.contains(batch[i].event.key)) {
                answers[i] = {.how = delivered::held};
                continue;
            }
            answers[i] = says_ ? says_(batch[i]) : delivery{.how = delivered::yes};
            if (answers[i].how == delivered::yes) {
                log_.add(batch[i]);
            } else {
                failed.insert(batch[i].event.key);
            }
        }
    }

private:
    delivered_log& log_;
    const judge says_;
};

inline sink_opener told_sinks(delivered_log& log, told_sink::judge says = {}) {
    return [&log, says]() -> result<std::unique_ptr<sink>> {
        return std::unique_ptr<sink>{std::make_unique<told_sink>(log, says)};
    };
}

} // namespace semel::outbox
