// Pipelining: one write and one read for all commands of a batch.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "databases/redis/client/link.hpp"
#include "databases/redis/store/task.hpp"
#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/core/record_machine.hpp"
#include "store/begin_streak.hpp"
#include "store/lane.hpp"

namespace semel::redis {

// A connection and the mutex of its users: the lanes of a store may share one.
struct shared_link {
    explicit shared_link(link_options options) : it(std::move(options)) {}

    detail::mutex mutex;
    link it SEMEL_GUARDED_BY(mutex);
};

class backend final : public batch_backend {
public:
    // `on` is shared by the backends of a store that has only one connection. The setting and the
    // counters, which may be null, outlive it.
    backend(std::shared_ptr<shared_link> on, const task_setting& setting, store_counters* counters)
        : on_(std::move(on)), setting_(setting), counters_(counters) {}

    void execute(std::span<job* const> batch) override;

private:
    void run(std::span<job* const> batch, link& on);
    void exchange(link& on);
    void take_replies(link& on);
    void give_up_from(std::size_t first, const failure& why);

    const std::shared_ptr<shared_link> on_;
    const task_setting& setting_;
    store_counters* const counters_;

    // Owned by the thread that executes.
    std::vector<task> open_;        // not yet answered
    std::vector<std::size_t> ends_; // of each one's request
    std::string requests_;
    std::size_t accepted_ = 0; // bytes of them that may have been sent
    bool asks_time_ = false;   // they begin with a question for the time
    begin_streak begins_;
};

} // namespace semel::redis
