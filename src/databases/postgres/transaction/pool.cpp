#include "databases/postgres/transaction/pool.hpp"

#include <algorithm>
#include <stdexcept>

#include "databases/postgres/transaction/pooled_transaction.hpp"
#include "databases/postgres/transaction/transaction_failures.hpp"

namespace semel::postgres {

namespace {

resumption taken(pool_caller& from) {
    resumption then = *std::move(from.go_on);
    from.go_on.reset();
    return then;
}

// The call may be gone when this returns.
void go_on(pool_caller& who) {
    taken(who)();
}

// Ends the call together with its loop, if the loop never runs it.
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

// Resumes the call from the loop. Otherwise lost connections, one after the other, would be handed
// on in ever deeper recursion.
void give(pool_member& what, pool_caller& to) noexcept {
    to.given = &what;
    try {
        go_on_from(*what.waits, to);
    } catch (...) { // there is no memory left
        go_on(to);
    }
}

local_time end_of(duration wait) {
    const auto now = local_clock::now();
    return wait < local_time::max() - now ? now + wait : local_time::max();
}

void tell_too_late(pool_caller& who) {
    who.why = failure{.code = errc::timed_out, .possible = effect::none};
    try {
        who.why->detail = "postgres: no connection of the pool was free in time";
    } catch (...) { // there is no memory left for a text
    }
    go_on(who);
}

} // namespace

// ---- the line -----------------------------------------------------------------------------------

void pool_line::link(pool_caller* before, pool_caller& who, pool_caller* behind) {
    who.before = before;
    who.behind = behind;
    (before == nullptr ? first_ : before->behind) = &who;
    (behind == nullptr ? last_ : behind->before) = &who;
    ++size_;
}

void pool_line::add(pool_caller& who) {
    link(last_, who, nullptr);
}

void pool_line::add_first(pool_caller& who) {
    link(nullptr, who, first_);
}

void pool_line::remove(pool_caller& who) {
    (who.before == nullptr ? first_ : who.before->behind) = who.behind;
    (who.behind == nullptr ? last_ : who.behind->before) = who.before;
    --size_;
}

pool_caller* pool_line::first_who_stays() const {
    pool_caller* at = first_;
    while (at != nullptr && at->travels != nullptr) at = at->behind;
    return at;
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

// Takes the connection that was used last, because the server's caches of it are warm.
bool pool_core::take_free(pool_caller& for_whom) {
    if (free_.empty()) return false;
    for_whom.given = free_.back();
    free_.pop_back();
    return true;
}

bool pool_core::take(pool_caller& for_whom) {
    if (home_.left()) {
        for_whom.why = opened_before_fork("postgres: the pool");
        return true;
    }
    const std::lock_guard lock{mutex_};
    return take_free(for_whom);
}

void pool_core::wait(pool_caller& who, resumption then) {
    {
        const std::lock_guard lock{mutex_};
        if (take_free(who)) {
            // A connection has become free meanwhile.
        } else if (!who.had_one && line_.size() >= options_.waiting_max) {
            ++counted_.refused;
            who.why = refused(errc::overloaded, "too many callers wait for a connection already");
        } else {
            who.until = end_of(options_.wait_max);
            who.go_on.emplace(std::move(then));
            who.had_one ? line_.add_first(who) : line_.add(who);
            watch_time();
            return;
        }
    }
    then();
}

pool_caller* pool_core::leave_line(pool_caller* who) {
    if (who == nullptr) return nullptr;
    line_.remove(*who);
    if (who->travels != nullptr) std::exchange(who->travels, nullptr)->who_ = nullptr;
    return who;
}

void pool_core::give_back(pool_member& what) noexcept {
    pool_caller* next = nullptr;
    {
        const std::lock_guard lock{mutex_};
        next = leave_line(line_.first_who_stays());
        if (next == nullptr) {
            free_.push_back(&what);
            // The loop must not run on for a time limit on which no call depends.
            if (watched_ && !stopped_ && free_.size() == members_.size()) time_->forget();
        }
    }
    if (next != nullptr) give(what, *next);
}

void pool_core::stop() {
    if (home_.left()) return;
    const auto next = [this] {
        const std::lock_guard lock{mutex_};
        stopped_ = true;
        return leave_line(line_.first());
    };
    while (pool_caller* const who = next()) static_cast<void>(taken(*who));
}

// ---- those who travel ---------------------------------------------------------------------------

pool_successor::pool_successor(pool_core& in) : in_(in) {
    const std::lock_guard lock{in_.mutex_};
    pool_caller* const first = in_.line_.first_who_stays();
    if (first == nullptr) return;
    id_ = *first->id;
    who_ = first;
    who_->travels = this;
}

bool pool_successor::take(pool_member& what) {
    pool_caller* who = nullptr;
    {
        const std::lock_guard lock{in_.mutex_};
        who = in_.leave_line(who_);
        if (who != nullptr) ++in_.counted_.handed_over;
    }
    if (who == nullptr) return false;
    who->given = &what;
    go_on(*who);
    return true;
}

// The call keeps its place in the line, unless a connection has become free meanwhile.
pool_successor::~pool_successor() {
    pool_caller* who = nullptr;
    {
        const std::lock_guard lock{in_.mutex_};
        if (who_ == nullptr) return;
        who_->travels = nullptr;
        if (!in_.take_free(*who_)) return;
        who = in_.leave_line(who_);
    }
    give(*who->given, *who);
}

// ---- the time -----------------------------------------------------------------------------------

void pool_core::watch_time() noexcept {
    if (watched_ || line_.first() == nullptr) return;
    local_time first = local_time::max();
    for (const pool_caller* one = line_.first(); one != nullptr; one = one->behind) {
        first = std::min(first, one->until);
    }
    try {
        time_->wait({}, socket_waiter::interest::time, first,
                    [pool = weak_from_this()](socket_waiter::woken) {
                        if (const auto self = pool.lock()) self->expire();
                    });
        watched_ = true;
    } catch (...) { // there is no memory left: the next call tries again
    }
}

void pool_core::expire() {
    pool_line late;
    {
        const std::lock_guard lock{mutex_};
        watched_ = false;
        const auto now = local_clock::now();
        for (pool_caller* one = line_.first(); one != nullptr;) {
            pool_caller* const behind = one->behind;
            if (one->until <= now) late.add(*leave_line(one));
            one = behind;
        }
        counted_.timed_out += late.size();
        watch_time();
    }
    while (pool_caller* const who = late.first()) {
        late.remove(*who);
        tell_too_late(*who);
    }
}

postgres_pool::counted pool_core::count() const {
    const std::lock_guard lock{mutex_};
    auto now = counted_;
    now.waiting = line_.size();
    now.free = free_.size();
    return now;
}

} // namespace semel::postgres

namespace semel {

postgres_pool::postgres_pool(const std::vector<pg_conn*>& connections,
                             const std::function<std::unique_ptr<socket_waiter>()>& make_waiter,
                             postgres_pool_options options)
    : core_(std::make_shared<postgres::pool_core>(connections, make_waiter, std::move(options))) {}

// A call that still waits has lost its loop. Otherwise it would have an answer.
postgres_pool::~postgres_pool() {
    core_->stop();
}

postgres_pool_transaction postgres_pool::transaction() {
    return postgres_pool_transaction{core_};
}

postgres_pool_transaction::postgres_pool_transaction(std::shared_ptr<postgres::pool_core> pool)
    : transaction(std::make_unique<postgres::pooled_transaction>(std::move(pool))) {}

postgres_pool::counted postgres_pool::count() const {
    return core_->count();
}

} // namespace semel
