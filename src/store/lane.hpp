// The batch lane: a bounded queue and "take all that is waiting, execute as one batch, complete
// each".
//
// It is group commit on SQLite, pipelining on Redis, multi-row statements on PostgreSQL and
// MariaDB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "semel/base/function.hpp"
#include "semel/base/mutex.hpp"
#include "semel/core/metrics.hpp"
#include "semel/store.hpp"
#include "store/waiting_rooms.hpp"

namespace semel {

// One command in a lane. The backend reads the first group and sets `answer`.
struct job {
    record_id id;
    command what;
    std::optional<time_point> now = {};
    std::uint64_t hash = 0; // local_hash_of(id)

    std::optional<result<reply>> answer = {};
};

// Executes batches; used by one thread at a time per lane. Every job gets an answer of its own,
// also when the batch as a whole fails. No record occurs twice in a batch; jobs come sorted by
// record id.
//
// When an exception leaves execute(), the jobs without an answer get a failure with
// effect::unknown. Answers that are there have to be true by then, and the backend fit for the next
// batch.
class batch_backend {
public:
    virtual ~batch_backend() = default;
    virtual void execute(std::span<job* const> batch) = 0;
};

struct lane_options {
    std::size_t queue_max = 65'536;
    std::size_t queue_bytes_max = std::size_t{256} << 20;
    std::size_t batch_max = 256;
    std::size_t batch_bytes_max = std::size_t{8} << 20;
    store_counters* counters = nullptr; // outlives the lane; null: nothing is counted
};

// Decides where a lane's asynchronous batches run: the lane calls it once per burst, and it
// arranges that pump() is called.
using lane_wake = unique_function<void()>;

// Thread-safe. A lane flushes as soon as it is idle; it does not wait for a batch to fill.
class batch_lane {
public:
    batch_lane(batch_backend& backend, lane_wake wake, lane_options options = {});
    ~batch_lane();

    // Refuses begins and lookups when full: then `done` is called inline with errc::overloaded.
    void submit(envelope what, completion done);

    // The same for many, which are then in the queue before the next batch is taken.
    void submit_all(std::vector<submission> many);

    // A blocking caller that finds the lane idle runs the batch itself: no thread hop.
    [[nodiscard]] result<reply> call(const record_id& id, command what,
                                     std::optional<time_point> now);

    // Executes one batch if a command waits and no other thread executes one. True if more wait.
    bool pump();

    // True if no command waits or is being executed: from then on every command is answered inline
    // with errc::stopped. False: call it again after the next pump(), which the lane asks for.
    [[nodiscard]] bool close();

    [[nodiscard]] std::uint64_t refused() const;
    [[nodiscard]] std::size_t waiting() const;

private:
    struct ticket;
    struct taking;
    using queue = std::deque<ticket*>;

    static std::unique_ptr<ticket> make_ticket(submission one);
    [[nodiscard]] bool admit(ticket& one) SEMEL_REQUIRES(mutex_);
    void ask_for_pump() SEMEL_REQUIRES(mutex_);
    void enqueue(ticket& one) SEMEL_REQUIRES(mutex_);
    void take(queue& from, taking& so_far) SEMEL_REQUIRES(mutex_);
    [[nodiscard]] std::vector<ticket*> take_batch() SEMEL_REQUIRES(mutex_);
    // Executes one batch. The mutex is free while the backend works and while callers are answered.
    void lead() SEMEL_REQUIRES(mutex_);
    void execute(std::span<ticket* const> batch);
    void gather() SEMEL_REQUIRES(mutex_);
    void pass_on() SEMEL_REQUIRES(mutex_);
    [[nodiscard]] bool empty() const SEMEL_REQUIRES(mutex_) {
        return owners_.empty() && callers_.empty();
    }
    static void give_up(std::span<ticket* const> batch, const failure& why);
    static void answer(std::span<ticket* const> batch);
    static void answer(ticket& one) noexcept;

    // Constant after construction.
    batch_backend& backend_;
    const lane_options options_;

    mutable detail::mutex mutex_;
    lane_wake wake_ SEMEL_GUARDED_BY(mutex_);
    waiting_rooms rooms_ SEMEL_GUARDED_BY(mutex_);
    // Commands of running attempts are never refused, and taken first.
    queue owners_ SEMEL_GUARDED_BY(mutex_);
    queue callers_ SEMEL_GUARDED_BY(mutex_); // begins, lookups, operator acts
    std::size_t caller_bytes_ SEMEL_GUARDED_BY(mutex_) = 0;
    std::uint64_t refused_ SEMEL_GUARDED_BY(mutex_) = 0;
    std::size_t returning_ SEMEL_GUARDED_BY(mutex_) = 0; // callers that the last batch has answered
    bool leading_ SEMEL_GUARDED_BY(mutex_) = false;      // a thread executes a batch
    bool woken_ SEMEL_GUARDED_BY(mutex_) = false;   // pump() was asked for and has not come yet
    bool closing_ SEMEL_GUARDED_BY(mutex_) = false; // the lane asks for close() when it is empty
    bool closed_ SEMEL_GUARDED_BY(mutex_) = false;
};

// True for the commands of a running attempt, whose place was reserved when its begin was admitted.
[[nodiscard]] bool of_running_attempt(const command& what);

// The failure that a closing store answers.
[[nodiscard]] failure stopped();

// Bytes a command keeps in the queue; an estimate that counts what can be large.
[[nodiscard]] std::size_t weight(const record_id& id, const command& what);

} // namespace semel
