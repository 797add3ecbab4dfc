#include "in_flight.hpp"

#include <condition_variable>
#include <mutex>

#include "semel/engine/verdict.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

class loop {
public:
    loop(engine& on, const in_flight& how) : on_(on), how_(how) {}

    std::size_t run() {
        for (std::size_t i = 0; i < how_.width; ++i) start_next();
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [&] { return running_ == 0; });
        require(right_, "semel: an execution did not end as expected");
        return done_;
    }

private:
    // The place of an execution that has ended is taken by the next, on the thread that ended it.
    void start_next() {
        std::unique_lock lock{mutex_};
        if (watch_.elapsed() >= how_.most || started_ == how_.runs_max || !right_) return;
        ++running_;
        ++started_;
        const std::uint64_t key = how_.next_key();
        lock.unlock();
        on_.start(
            request_for(key_of(key)),
            [](execution&, unique_function<void(work_end)> done) {
                stored_result result{.body = answer_body()};
                seal(result);
                done(answered_end{std::move(result)});
            },
            [this](raw_outcome out) {
                ended(out.kind);
                start_next();
                leave();
            });
    }

    void ended(outcome_kind kind) {
        const std::lock_guard lock{mutex_};
        ++done_;
        if (kind != how_.expected) right_ = false;
    }

    void leave() {
        const std::lock_guard lock{mutex_};
        if (--running_ == 0) changed_.notify_all();
    }

    engine& on_;
    const in_flight& how_;
    const stopwatch watch_;
    std::mutex mutex_;
    std::condition_variable changed_;
    // Guarded by mutex_.
    std::size_t running_ = 0;
    std::size_t started_ = 0;
    std::size_t done_ = 0;
    bool right_ = true;
};

} // namespace

std::size_t run_in_flight(engine& on, const in_flight& how) {
    return loop{on, how}.run();
}

} // namespace semel::bench
