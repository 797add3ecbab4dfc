#include "databases/redis/front/front_lane.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <new>
#include <utility>

#include "semel/base/mutex.hpp"

namespace semel::redis {

namespace {

// More than this is one debt: to forget everything.
constexpr std::size_t debts_max = 65'536;
constexpr auto debts_pause = std::chrono::milliseconds{100};
constexpr std::size_t request_bytes_kept = std::size_t{4} << 20;

// While this thread answers for a front it waits for none: its own lane goes on only afterwards,
// and the thread that leads another may be waiting for this one.
thread_local bool answering = false;

failure not_waited() {
    return {.code = errc::unavailable,
            .possible = effect::unknown,
            .detail = "redis: a completion of the front cannot wait for it"};
}

failure overloaded() {
    return {.code = errc::overloaded,
            .possible = effect::none,
            .detail = "redis: the front's queue is full; raise queue_max or slow down"};
}

} // namespace

// ---- debts --------------------------------------------------------------------------------------

void front_debts::add(const std::string& key) {
    try {
        keys_.insert(key);
    } catch (const std::bad_alloc&) {
        all_ = true; // which costs no memory
    }
    if (keys_.size() <= debts_max) return;
    keys_.clear();
    all_ = true;
}

result<void> front_debts::pay(link& on) {
    if (all_) {
        if (auto paid = pay_all(on); !paid) return paid;
        all_ = false;
    }
    if (keys_.empty()) return {};
    std::vector<std::string_view> request{"UNLINK"};
    request.insert(request.end(), keys_.begin(), keys_.end());
    if (const auto done = on.ask(request); !done) return done.error();
    keys_.clear();
    return {};
}

result<void> front_debts::pay_all(link& on) {
    std::string cursor = "0";
    do {
        const auto page = on.ask({"SCAN", cursor, "MATCH", pattern_, "COUNT", "1000"});
        if (!page) return page.error();
        if ((*page)->items.size() != 2) return {};
        cursor = (*page)->items[0].text;
        std::vector<std::string> found;
        for (const auto& one : (*page)->items[1].items) found.emplace_back(one.text);
        if (found.empty()) continue;
        std::vector<std::string_view> request{"UNLINK"};
        request.insert(request.end(), found.begin(), found.end());
        if (const auto done = on.ask(request); !done) return done.error();
    } while (cursor != "0");
    return {};
}

// ---- the queue ----------------------------------------------------------------------------------

// Either a completion waits for it (then the lane owns the ticket), or a thread that sleeps in a
// room.
struct front_lane::ticket {
    front_task task;
    front_completion done = {};
    waiting_room* room = nullptr;
    bool taken = false; // guarded by the lane's mutex
    std::atomic<bool> finished = false;
};

front_lane::front_lane(front_lane_options options)
    : queue_max_(options.queue_max),
      batch_max_(options.batch_max),
      wake_(options.wake),
      on_(std::move(options.link)),
      debts_(std::move(options.pattern)),
      rooms_(options.batch_max),
      thread_([this] { run(); }) {
    batch_.reserve(1);
}

front_lane::~front_lane() {
    {
        const detail::guard lock{mutex_};
        stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

bool front_lane::admit(const ticket& one) const {
    return !one.task.looks() || queue_.size() < queue_max_;
}

void front_lane::submit(std::string key, front_command what, front_completion done) {
    std::unique_ptr<ticket> one{
        new ticket{.task = {std::move(key), std::move(what), wake_}, .done = std::move(done)}};
    {
        const detail::guard lock{mutex_};
        if (admit(*one)) {
            queue_.push_back(one.release());
            if (!leading_) changed_.notify_one();
            return;
        }
    }
    one->done(overloaded());
}

result<front_sight> front_lane::call(std::string key, front_command what) {
    if (answering) {
        // Commands that write are queued. A look gets no answer, so the caller asks the truth.
        const bool looks = std::holds_alternative<fronts::look>(what);
        if (!looks) submit(std::move(key), std::move(what), [](const auto&) {});
        return not_waited();
    }
    ticket mine{.task = {std::move(key), std::move(what), wake_}};
    detail::guard lock{mutex_};
    if (!admit(mine)) return overloaded();
    mine.room = &rooms_.seat();
    queue_.push_back(&mine);
    while (!mine.finished) {
        if (!leading_ && !mine.taken) {
            lead();
            continue;
        }
        const int seen = mine.room->ticket();
        lock.unlock();
        if (!mine.finished) mine.room->sleep(seen);
        if (mine.finished) return mine.task.take();
        lock.lock();
    }
    return mine.task.take();
}

// The next thread that leads, now or later, forgets everything first.
void front_lane::clear() {
    {
        const detail::guard lock{mutex_};
        clearing_ = true;
    }
    static_cast<void>(call({}, fronts::pass{}));
}

void front_lane::lead() {
    leading_ = true;
    take_batch();
    rooms_.next();
    if (std::exchange(clearing_, false)) debts_.add_all();
    {
        const detail::gap unlocked{mutex_};
        execute(batch_);
        answer(batch_);
    }
    leading_ = false;
    owes_ = debts_.any();
    pass_on();
}

// Nothing follows a script on the same record: were the script unknown, it would be asked again
// after what follows it.
void front_lane::take_batch() {
    batch_.clear();
    try {
        std::set<std::string_view> scripted;
        while (!queue_.empty() && batch_.size() < batch_max_) {
            ticket* const one = queue_.front();
            if (scripted.contains(one->task.key())) break;
            batch_.push_back(one);
            one->taken = true;
            queue_.pop_front();
            if (one->task.is_script()) scripted.insert(one->task.key());
        }
    } catch (const std::bad_alloc&) {
        // What has been taken is a batch too; for one there is always room.
    }
}

// A seated caller leads next, or else the lane's own thread.
void front_lane::pass_on() {
    if (!queue_.empty() && queue_.front()->room != nullptr) {
        queue_.front()->room->wake_one();
    } else if (!queue_.empty() || owes_ || stopping_) {
        changed_.notify_one();
    }
}

void front_lane::run() {
    detail::guard lock{mutex_};
    const auto work = [this]() SEMEL_REQUIRES(mutex_) {
        return !leading_ && (stopping_ || !queue_.empty());
    };
    while (true) {
        if (owes_ && !leading_ && queue_.empty() && !stopping_) {
            // No command waits, but something is still to be forgotten.
            if (!changed_.wait_for(lock, debts_pause, work) && !leading_) lead();
            continue;
        }
        changed_.wait(lock,
                      [&]() SEMEL_REQUIRES(mutex_) { return work() || (owes_ && !leading_); });
        if (!queue_.empty() && !leading_) lead();
        if (stopping_ && queue_.empty() && !leading_) break;
    }
    if (owes_) lead(); // a last try
}

// ---- batches ------------------------------------------------------------------------------------

void front_lane::execute(std::span<ticket* const> batch) {
    try {
        if (auto done = ask(batch); !done) give_up(batch, done.error());
    } catch (...) {
        // In the middle of anything; the connection goes with it.
        on_.close();
        give_up(batch, caught_failure());
    }
}

result<void> front_lane::ask(std::span<ticket* const> batch) {
    if (debts_.any()) {
        if (auto paid = debts_.pay(on_); !paid) return paid;
    }
    // Asks a second time if the server did not know a script.
    for (int round = 0; round < 2; ++round) {
        if (auto done = exchange(batch); !done) return done;
    }
    return {};
}

result<void> front_lane::exchange(std::span<ticket* const> batch) {
    requests_.clear();
    for (const ticket* one : batch) {
        if (!one->task.answered()) one->task.ask(requests_);
    }
    if (requests_.empty()) return {};
    if (auto ready = on_.ready(); !ready) return ready;
    if (auto sent = on_.send(requests_); !sent.done) return sent.done;
    if (requests_.capacity() > request_bytes_kept) std::string{}.swap(requests_);
    auto after = connection_use::keep;
    for (ticket* one : batch) {
        if (one->task.answered()) continue;
        const auto got = on_.receive();
        if (!got) return got.error();
        if (one->task.hear(**got) == connection_use::replace) after = connection_use::replace;
        if (one->task.forgets() && one->task.failed()) debts_.add(one->task.key());
    }
    if (after == connection_use::replace) on_.close();
    return {};
}

void front_lane::give_up(std::span<ticket* const> batch, const failure& why) {
    for (ticket* one : batch) {
        if (one->task.answered()) continue;
        if (one->task.forgets()) debts_.add(one->task.key());
        one->task.give_up(why);
    }
}

void front_lane::answer(std::span<ticket* const> batch) {
    answering = true;
    room_waker wake;
    for (ticket* one : batch) {
        wake.go_on_to(one->room);
        if (one->room == nullptr) {
            const std::unique_ptr<ticket> owned{one};
            owned->done(owned->task.take());
        } else {
            one->finished = true; // the ticket lives on its thread's stack, and is gone now
        }
    }
    answering = false;
}

} // namespace semel::redis
