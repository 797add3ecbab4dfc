#include "store/lane.hpp"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "base/mutant.hpp"
#include "core/local_hash.hpp"
#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"

namespace semel {

// A queued job. Either a completion waits for it (then the lane owns the ticket), or a thread that
// sleeps in a room.
struct batch_lane::ticket {
    job it;
    std::size_t bytes = 0;
    completion done = {};
    waiting_room* room = nullptr;
    bool taken = false; // guarded by the lane's mutex: in a batch, so an answer will come
    std::atomic<bool> finished = false;
};

// A batch on its way out of the queues.
struct batch_lane::taking {
    std::vector<ticket*> batch;
    std::size_t bytes = 0;
    absl::flat_hash_set<std::uint64_t> records; // in the batch, or for a later one only
};

bool of_running_attempt(const command& what) {
    return std::holds_alternative<commands::complete>(what) ||
           std::holds_alternative<commands::fail>(what) ||
           std::holds_alternative<commands::release>(what) ||
           std::holds_alternative<commands::abandon>(what) ||
           std::holds_alternative<commands::renew>(what) ||
           std::holds_alternative<commands::checkpoint>(what);
}

namespace {

std::size_t body_bytes(const command& what) {
    if (const auto* one = std::get_if<commands::complete>(&what)) return one->result.body.size();
    if (const auto* one = std::get_if<commands::checkpoint>(&what)) return one->step.data.size();
    if (const auto* one = std::get_if<commands::begin>(&what)) return one->attributes.size();
    if (const auto* one = std::get_if<commands::fail>(&what)) return one->error.size();
    if (const auto* one = std::get_if<commands::release>(&what); one && one->replaced) {
        return one->replaced->result.body.size();
    }
    return 0;
}

failure overloaded() {
    return {.code = errc::overloaded,
            .possible = effect::none,
            .detail = "the store's queue is full; raise queue_max or slow down"};
}

// The detail is short enough for a string that needs no memory.
failure out_of_memory() {
    return {.code = errc::no_space, .possible = effect::unknown, .detail = "out of memory"};
}

// By a backend, before or after anything was sent.
failure thrown(std::string what) {
    return {.code = errc::internal, .possible = effect::unknown, .detail = std::move(what)};
}

bool reserved(const command& what) {
    return !mutant(bug::completion_refused) && of_running_attempt(what);
}

} // namespace

failure stopped() {
    return {.code = errc::stopped, .possible = effect::none, .detail = "the store is closing"};
}

std::size_t weight(const record_id& id, const command& what) {
    constexpr std::size_t overhead = 512;
    return overhead + id.tenant.size() + id.operation.size() + id.key.size() + body_bytes(what);
}

batch_lane::batch_lane(batch_backend& backend, lane_wake wake, lane_options options)
    : backend_(backend), options_(options), wake_(std::move(wake)), rooms_(options.batch_max) {
    SEMEL_ASSERT(options_.batch_max > 0);
}

batch_lane::~batch_lane() {
    SEMEL_ASSERT(empty());
}

// A job that is not admitted has its answer.
bool batch_lane::admit(ticket& one) {
    if (closed_) {
        one.it.answer = stopped();
        return false;
    }
    if (reserved(one.it.what)) return true;
    const bool room = callers_.size() < options_.queue_max &&
                      caller_bytes_ + one.bytes <= options_.queue_bytes_max;
    if (!room) {
        ++refused_;
        if (options_.counters != nullptr) options_.counters->refused.add();
        one.it.answer = overloaded();
    }
    return room;
}

void batch_lane::enqueue(ticket& one) {
    if (options_.counters != nullptr) options_.counters->queued.add();
    if (reserved(one.it.what)) {
        owners_.push_back(&one);
    } else {
        callers_.push_back(&one);
        caller_bytes_ += one.bytes;
    }
}

std::unique_ptr<batch_lane::ticket> batch_lane::make_ticket(submission one) {
    auto made = std::make_unique<ticket>();
    made->bytes = weight(one.what.id, one.what.what);
    made->it.hash = local_hash_of(one.what.id);
    made->it.id = std::move(one.what.id);
    made->it.what = std::move(one.what.what);
    made->it.now = one.what.now;
    made->done = std::move(one.done);
    return made;
}

// A leader at work looks at the queue again when its batch is done.
void batch_lane::ask_for_pump() {
    if (leading_ || woken_ || empty()) return;
    woken_ = true;
    wake_();
}

void batch_lane::submit(envelope what, completion done) {
    auto one = make_ticket({.what = std::move(what), .done = std::move(done)});
    {
        const detail::guard lock{mutex_};
        if (admit(*one)) {
            enqueue(*one.release());
            ask_for_pump();
            return;
        }
    }
    answer(*one);
}

void batch_lane::submit_all(std::vector<submission> many) {
    std::vector<std::unique_ptr<ticket>> tickets;
    tickets.reserve(many.size());
    for (auto& one : many) tickets.push_back(make_ticket(std::move(one)));
    {
        const detail::guard lock{mutex_};
        for (auto& one : tickets) {
            if (admit(*one)) enqueue(*one.release());
        }
        ask_for_pump();
    }
    for (auto& one : tickets) {
        if (one != nullptr) answer(*one);
    }
}

result<reply> batch_lane::call(const record_id& id, command what, std::optional<time_point> now) {
    ticket mine;
    mine.bytes = weight(id, what);
    mine.it.hash = local_hash_of(id);
    mine.it.id = id;
    mine.it.what = std::move(what);
    mine.it.now = now;

    detail::guard lock{mutex_};
    if (!admit(mine)) return std::move(*mine.it.answer);
    mine.room = &rooms_.seat();
    enqueue(mine);
    while (!mine.finished) {
        if (!leading_ && !mine.taken) {
            lead();
            continue;
        }
        const int seen = mine.room->ticket();
        lock.unlock();
        // Answered between the two lines above: the room's has moved on and sleep() returns at
        // once.
        if (!mine.finished) mine.room->sleep(seen);
        if (mine.finished) return std::move(*mine.it.answer);
        lock.lock();
    }
    return std::move(*mine.it.answer);
}

bool batch_lane::pump() {
    detail::guard lock{mutex_};
    woken_ = false;
    if (leading_ || empty()) return false;
    lead();
    return !leading_ && !empty();
}

bool batch_lane::close() {
    const detail::guard lock{mutex_};
    closing_ = true;
    closed_ = empty() && !leading_;
    return closed_;
}

// Commands on one record keep their order and never share a batch: a repeat stays in the queue, and
// so do all behind it that name the same record.
void batch_lane::take(queue& from, taking& so_far) {
    queue left;
    while (!from.empty() && so_far.batch.size() < options_.batch_max) {
        ticket* one = from.front();
        const bool fits =
            so_far.batch.empty() || so_far.bytes + one->bytes <= options_.batch_bytes_max;
        if (!fits || left.size() >= 4 * options_.batch_max) break;
        from.pop_front();
        if (so_far.records.insert(one->it.hash).second) {
            so_far.batch.push_back(one);
            so_far.bytes += one->bytes;
        } else {
            left.push_back(one);
        }
    }
    from.insert(from.begin(), left.begin(), left.end());
}

std::vector<batch_lane::ticket*> batch_lane::take_batch() {
    taking so_far;
    std::vector<ticket*>& batch = so_far.batch;
    take(owners_, so_far);
    const std::size_t owners = batch.size();
    if (owners < options_.batch_max) {
        // Owners may pass callers, and never the reverse.
        for (const ticket* one : owners_) so_far.records.insert(one->it.hash);
        take(callers_, so_far);
    }
    for (std::size_t at = owners; at < batch.size(); ++at) caller_bytes_ -= batch[at]->bytes;
    for (ticket* one : batch) one->taken = true;
    if (options_.counters != nullptr) options_.counters->queued.subtract(batch.size());
    rooms_.next();
    return std::move(batch);
}

void batch_lane::lead() {
    leading_ = true;
    gather();
    std::vector<ticket*> batch = take_batch();
    auto seated_end = batch.begin();
    {
        const detail::gap unlocked{mutex_};
        execute(batch);
        // Seated callers are woken before the lane goes on, so that their next commands come into
        // the next batch. Otherwise there are always two halves, and two commits instead of one.
        const auto is_seated = [](const ticket* one) { return one->room != nullptr; };
        seated_end = std::stable_partition(batch.begin(), batch.end(), is_seated);
        answer({batch.begin(), seated_end});
    }
    leading_ = false;
    returning_ = static_cast<std::size_t>(seated_end - batch.begin());
    pass_on();
    // Completions may do anything, also wait for this lane.
    const detail::gap unlocked{mutex_};
    answer({seated_end, batch.end()});
}

// No exception may leave this function: otherwise no caller would lead this lane again, and all
// callers would hang.
void batch_lane::execute(std::span<ticket* const> batch) {
    try {
        std::vector<job*> jobs;
        jobs.reserve(batch.size());
        for (ticket* one : batch) jobs.push_back(&one->it);
        // One order everywhere: two lanes that lock the same rows cannot deadlock.
        std::sort(jobs.begin(), jobs.end(),
                  [](const job* a, const job* b) { return a->id < b->id; });
        backend_.execute(jobs);
    } catch (const std::bad_alloc&) {
        give_up(batch, out_of_memory());
    } catch (const std::exception& why) {
        give_up(batch, thrown(std::string{"the driver threw: "} + why.what()));
    } catch (...) {
        give_up(batch, thrown("the driver threw"));
    }
}

void batch_lane::give_up(std::span<ticket* const> batch, const failure& why) {
    for (ticket* one : batch) {
        if (!one->it.answer) one->it.answer = why;
    }
}

// The callers that were just answered mostly come back at once. They get the processor first, as
// long as that brings any. The lane does not wait for callers that stay away.
void batch_lane::gather() {
    std::size_t here = owners_.size() + callers_.size();
    while (here < returning_) {
        {
            const detail::gap unlocked{mutex_};
            std::this_thread::yield();
        }
        const std::size_t before = std::exchange(here, owners_.size() + callers_.size());
        if (here == before) break;
    }
    returning_ = 0;
}

// The lane is idle and a command may wait: a seated caller leads next, or else the lane's own
// thread.
void batch_lane::pass_on() {
    if (empty()) {
        if (closing_) wake_();
        return;
    }
    const ticket* next = owners_.empty() ? callers_.front() : owners_.front();
    if (next->room != nullptr) {
        next->room->wake_one();
    } else {
        ask_for_pump();
    }
}

void batch_lane::answer(std::span<ticket* const> batch) {
    room_waker wake;
    for (ticket* one : batch) {
        SEMEL_ASSERT(one->it.answer.has_value());
        wake.go_on_to(one->room);
        if (one->room == nullptr) {
            const std::unique_ptr<ticket> owned{one};
            answer(*owned);
        } else {
            // The ticket lives on its thread's stack, and is gone now.
            one->finished.store(true, std::memory_order_release);
        }
    }
}

// What a completion throws ends here: the others of its batch would never be answered, and the
// lane's thread would end the process.
void batch_lane::answer(ticket& one) noexcept {
    try {
        one.done(std::move(*one.it.answer));
    } catch (...) {
    }
}

std::uint64_t batch_lane::refused() const {
    const detail::guard lock{mutex_};
    return refused_;
}

std::size_t batch_lane::waiting() const {
    const detail::guard lock{mutex_};
    return owners_.size() + callers_.size();
}

} // namespace semel
