// Pipelining for a front: take all that is waiting, ask it in one round trip, answer each in turn.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "databases/redis/client/link.hpp"
#include "databases/redis/front/front_task.hpp"
#include "semel/base/mutex.hpp"
#include "semel/store/tiered.hpp"
#include "store/waiting_rooms.hpp"

namespace semel::redis {

// Entries that must be forgotten and could not be. The server is asked nothing else before they
// are.
class front_debts {
public:
    explicit front_debts(std::string pattern) : pattern_(std::move(pattern)) {}

    [[nodiscard]] bool any() const { return all_ || !keys_.empty(); }
    void add(const std::string& key);
    void add_all() { all_ = true; }
    [[nodiscard]] result<void> pay(link& on);

private:
    [[nodiscard]] result<void> pay_all(link& on);

    const std::string pattern_; // of every key of the front
    std::set<std::string> keys_;
    bool all_ = false;
};

struct front_lane_options {
    link_options link = {};
    std::string pattern = {};
    redis_wake wake = redis_wake::publish;
    std::size_t queue_max = 65'536;
    std::size_t batch_max = 256;
};

// Thread-safe. A blocking caller that finds the lane idle leads: it runs the batch itself. The
// lane's own thread serves all other callers. The thread that leads gives the answers in the order
// of the commands, before the next batch. A call from such an answer does not wait, and fails.
class front_lane {
public:
    explicit front_lane(front_lane_options options);
    ~front_lane();

    void submit(std::string key, front_command what, front_completion done);
    [[nodiscard]] result<front_sight> call(std::string key, front_command what);
    void clear();

private:
    struct ticket;

    [[nodiscard]] bool admit(const ticket& one) const SEMEL_REQUIRES(mutex_);
    void lead() SEMEL_REQUIRES(mutex_);
    void pass_on() SEMEL_REQUIRES(mutex_);
    void run();

    // Called by the thread that leads.
    void take_batch() SEMEL_REQUIRES(mutex_);
    void execute(std::span<ticket* const> batch);
    [[nodiscard]] result<void> ask(std::span<ticket* const> batch);
    [[nodiscard]] result<void> exchange(std::span<ticket* const> batch);
    void give_up(std::span<ticket* const> batch, const failure& why);
    static void answer(std::span<ticket* const> batch);

    // Constant after construction.
    const std::size_t queue_max_;
    const std::size_t batch_max_;
    const redis_wake wake_;

    // Owned by the thread that leads.
    link on_;
    front_debts debts_;
    std::string requests_;
    std::vector<ticket*> batch_;

    detail::mutex mutex_;
    detail::condition changed_;
    waiting_rooms rooms_ SEMEL_GUARDED_BY(mutex_);
    std::deque<ticket*> queue_ SEMEL_GUARDED_BY(mutex_);
    bool leading_ SEMEL_GUARDED_BY(mutex_) = false;
    bool owes_ SEMEL_GUARDED_BY(mutex_) = false;
    bool clearing_ SEMEL_GUARDED_BY(mutex_) = false;
    bool stopping_ SEMEL_GUARDED_BY(mutex_) = false;

    std::thread thread_;
};

} // namespace semel::redis
