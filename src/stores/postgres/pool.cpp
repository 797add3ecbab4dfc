#include "stores/postgres/pool.hpp"

#include <stdexcept>

#include "stores/postgres/pooled_transaction.hpp"
#include "stores/postgres/transaction_failures.hpp"

namespace semel::postgres {

namespace {

resumption taken(pool_caller& from) {
    resumption then = *std::move(from.go_on);
    from.go_on.reset();
    return then;
}

// It may be gone when this returns.
void go_on(pool_caller& who) {
    taken(who)();
}

// Ends with its loop, if that never comes to it.
struct on_its_way {
    explicit on_its_way(pool_caller& caller) : who(&caller) {}
    on_its_way(const on_its_way&) = delete;
    on_its_way& operator=(const on_its_way&) = delete;
    ~on_its_way() {
        if (who != nullptr) static_cast<void>(taken(*who));
    }
    pool_caller* who;
};

void go_on_from(socket_waiter& loop, pool_caller& who) {
    const auto held = std::make_shared<on_its_way>(who); // with the loop
    try {
        loop.wait({}, socket_waiter::interest::time, local_clock::now(),
                  [held](socket_waiter::woken) { go_on(*std::exchange(held->who, nullptr)); });
    } catch (...) {
        held->who = nullptr;
        throw;
    }
}

} // namespace

// ---- the line -----------------------------------------------------------------------------------

void pool_line::add(pool_caller& who) {
    if (empty()) return add_first(who);
    who.behind = nullptr;
    last_->behind = &who;
    last_ = &who;
    ++size_;
}

void pool_line::add_first(pool_caller& who) {
    who.behind = first_;
    if (empty()) last_ = &who;
    first_ = &who;
    ++size_;
}

pool_caller* pool_line::take_first() {
    if (empty()) return nullptr;
    pool_caller* const it = first_;
    first_ = it->behind;
    --size_;
    return it;
}

// ---- turns --------------------------------------------------------------------------------------

pool_core::pool_core(const std::vector<pg_conn*>& connections,
                     const std::function<std::unique_ptr<socket_waiter>()>& make_waiter,
                     postgres_pool_options options)
    : options_(std::move(options)), time_(make_waiter()) {
    if (connections.empty()) throw std::invalid_argument{"a pool needs a connection"};
    free_.reserve(connections.size());
    for (pg_conn* const one : connections) {
        members_.push_back(std::make_unique<pool_member>(one, make_waiter(), options_));
        free_.push_back(members_.back().get());
    }
}

// The one that was used last: what the server keeps of it is warm.
bool pool_core::take(pool_caller& for_whom) {
    const std::lock_guard lock{mutex_};
    if (free_.empty() || !waiting_.empty()) return false;
    for_whom.given = free_.back();
    free_.pop_back();
    return true;
}

void pool_core::wait(pool_caller& who, resumption then) {
    {
        const std::lock_guard lock{mutex_};
        if (!free_.empty() && waiting_.empty()) { // meanwhile
            who.given = free_.back();
            free_.pop_back();
        } else if (waiting_.size() >= options_.waiting_max) {
            ++counted_.refused;
            who.why = refused(errc::overloaded, "too many callers wait for a connection already");
        } else {
            who.until = local_clock::now() + options_.wait_max;
            who.go_on.emplace(std::move(then));
            waiting_.add(who);
            watch_time();
            return;
        }
    }
    then();
}

pool_caller* pool_core::next() {
    const std::lock_guard lock{mutex_};
    return waiting_.take_first();
}

void pool_core::put_back(pool_caller& who) {
    const std::lock_guard lock{mutex_};
    waiting_.add_first(who);
    watch_time();
}

void pool_core::hand_over(pool_caller& to, pool_member& what) {
    {
        const std::lock_guard lock{mutex_};
        ++counted_.handed_over;
    }
    to.given = &what;
    go_on(to);
}

// Whoever has waited goes on from the loop: connections that are lost, one after the other, would
// otherwise be handed on deeper and deeper in here.
void pool_core::give_back(pool_member& what) noexcept {
    pool_caller* const who = next_for(what);
    if (who == nullptr) return;
    who->given = &what;
    try {
        go_on_from(*what.waits, *who);
    } catch (...) { // there is no memory left
        go_on(*who);
    }
}

// Or else it is free.
pool_caller* pool_core::next_for(pool_member& what) {
    const std::lock_guard lock{mutex_};
    pool_caller* const who = waiting_.take_first();
    if (who != nullptr) return who;
    free_.push_back(&what);
    // Nor is a loop to run on for the sake of a time that nobody waits for.
    if (watched_ && free_.size() == members_.size()) time_->forget();
    return nullptr;
}

void pool_core::stop() {
    while (pool_caller* const who = next()) static_cast<void>(taken(*who));
}

// ---- the time -----------------------------------------------------------------------------------

// They all wait equally long, so the first one's time is over first.
void pool_core::watch_time() noexcept {
    if (watched_) return;
    try {
        time_->wait({}, socket_waiter::interest::time, waiting_.first().until,
                    [pool = weak_from_this()](socket_waiter::woken) {
                        if (const auto self = pool.lock()) self->expire();
                    });
        watched_ = true;
    } catch (...) { // there is no memory left: whoever comes next tries again
    }
}

void pool_core::expire() {
    pool_line late;
    {
        const std::lock_guard lock{mutex_};
        watched_ = false;
        const auto now = local_clock::now();
        while (!waiting_.empty() && waiting_.first().until <= now) late.add(*waiting_.take_first());
        counted_.timed_out += late.size();
        if (!waiting_.empty()) watch_time();
    }
    while (pool_caller* const who = late.take_first()) {
        who->why = refused(errc::timed_out, "no connection of the pool was free in time");
        go_on(*who);
    }
}

postgres_pool::counted pool_core::count() const {
    const std::lock_guard lock{mutex_};
    auto now = counted_;
    now.waiting = waiting_.size();
    now.free = free_.size();
    return now;
}

} // namespace semel::postgres

namespace semel {

postgres_pool::postgres_pool(const std::vector<pg_conn*>& connections,
                             const std::function<std::unique_ptr<socket_waiter>()>& make_waiter,
                             postgres_pool_options options)
    : core_(std::make_shared<postgres::pool_core>(connections, make_waiter, std::move(options))) {}

// Whoever still waits has lost its loop, or it would have an answer.
postgres_pool::~postgres_pool() {
    core_->stop();
}

std::shared_ptr<pooled_connection> postgres_pool::enter() {
    return std::make_shared<postgres::pooled_transaction>(core_);
}

postgres_pool::counted postgres_pool::count() const {
    return core_->count();
}

} // namespace semel
