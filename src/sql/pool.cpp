#include "sql/pool.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "semel/base/mutex.hpp"

namespace semel::sql {

namespace {

resumption taken(pool_caller& from) {
    resumption then = *std::move(from.go_on);
    from.go_on.reset();
    return then;
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
                  [held](socket_waiter::woken) { taken (*std::exchange(held->who, nullptr))(); });
    } catch (...) {
        held->who = nullptr;
        throw;
    }
}

local_time end_of(duration wait) {
    const auto now = local_clock::now();
    return wait < local_time::max() - now ? now + wait : local_time::max();
}

} // namespace

// ---- the line -----------------------------------------------------------------------------------

void pool_line::link(pool_caller* before, pool_caller& who, pool_caller* behind) {
    who.before = before;
    who.behind = behind;
    (before == nullptr ? first_ : before->behind) = &who;
    (behind == nullptr ? last_ : behind->before) = &who;
    who.in_line = true;
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
    who.in_line = false;
    --size_;
}

pool_caller* pool_line::first_who_stays() const {
    pool_caller* at = first_;
    while (at != nullptr && at->travels != nullptr) at = at->behind;
    return at;
}

// ---- turns --------------------------------------------------------------------------------------

pool::pool(std::vector<std::unique_ptr<pool_member>> members, std::unique_ptr<socket_waiter> time,
           pool_limits limits)
    : limits_(std::move(limits)), time_(std::move(time)), members_(std::move(members)) {
    if (members_.empty()) throw std::invalid_argument{"a pool needs a connection"};
    free_.reserve(members_.size());
    for (const auto& one : members_) free_.push_back(one.get());
}

// Takes the connection that was used last, because the server's caches of it are warm.
bool pool::take_free(pool_caller& for_whom) {
    if (free_.empty()) return false;
    for_whom.given = free_.back();
    free_.pop_back();
    return true;
}

bool pool::take(pool_caller& for_whom) {
    if (home_.left()) {
        for_whom.why = opened_before_fork(std::string{limits_.driver} + ": the pool");
        return true;
    }
    detail::guard lock{mutex_};
    if (take_free(for_whom)) return true;
    if (!blocks()) return false;
    wait_in_place(for_whom, lock);
    return true;
}

pool::turn pool::line_up(pool_caller& who) {
    if (take_free(who)) return turn::over; // a connection has become free meanwhile
    if (!who.had_one && line_.size() >= limits_.waiting_max) {
        ++counted_.refused;
        who.why = failure{.code = errc::overloaded,
                          .detail = std::string{limits_.driver} +
                                    ": too many callers wait for a connection already"};
        return turn::over;
    }
    who.until = end_of(limits_.wait_max);
    who.had_one ? line_.add_first(who) : line_.add(who);
    return turn::in_line;
}

void pool::wait(pool_caller& who, resumption then) {
    {
        const detail::guard lock{mutex_};
        if (line_up(who) == turn::in_line) {
            who.go_on.emplace(std::move(then));
            watch_time();
            return;
        }
    }
    then();
}

void pool::wait_in_place(pool_caller& who, detail::guard& lock) {
    constexpr duration longest = std::chrono::hours{1};
    who.called = false;
    if (line_up(who) == turn::over) return;
    while (!who.called) {
        const duration left = who.until - local_clock::now();
        // Out of the line there is a connection on its way to this call.
        if (who.in_line && left <= duration::zero()) {
            static_cast<void>(leave_line(&who));
            ++counted_.timed_out;
            return tell_too_late(who);
        }
        who.woken.wait_for(lock, who.in_line ? std::min(left, longest) : longest);
    }
}

// The call may be gone when this returns.
void pool::wake(pool_caller& who) {
    if (!blocks()) return taken(who)();
    const detail::guard lock{mutex_};
    who.called = true;
    who.woken.notify_one();
}

// Resumes the call from the loop. Otherwise lost connections, one after the other, would be handed
// on in ever deeper recursion.
void pool::give(pool_member& what, pool_caller& to) noexcept {
    to.given = &what;
    if (what.waits == nullptr) return wake(to);
    try {
        go_on_from(*what.waits, to);
    } catch (...) { // there is no memory left
        wake(to);
    }
}

pool_caller* pool::leave_line(pool_caller* who) {
    if (who == nullptr) return nullptr;
    line_.remove(*who);
    if (who->travels != nullptr) std::exchange(who->travels, nullptr)->who_ = nullptr;
    return who;
}

void pool::give_back(pool_member& what) noexcept {
    pool_caller* next = nullptr;
    {
        const detail::guard lock{mutex_};
        next = leave_line(line_.first_who_stays());
        if (next == nullptr) {
            free_.push_back(&what);
            // The loop must not run on for a time limit on which no call depends.
            if (watched_ && !stopped_ && free_.size() == members_.size()) time_->forget();
        }
    }
    if (next != nullptr) give(what, *next);
}

// Callers that block are still inside their calls, which the pool outlives.
void pool::stop() {
    if (home_.left() || blocks()) return;
    const auto next = [this] {
        const detail::guard lock{mutex_};
        stopped_ = true;
        return leave_line(line_.first());
    };
    while (pool_caller* const who = next()) static_cast<void>(taken(*who));
}

// ---- those who travel ---------------------------------------------------------------------------

pool_successor::pool_successor(pool& in) : in_(in) {
    const detail::guard lock{in_.mutex_};
    pool_caller* const first = in_.line_.first_who_stays();
    if (first == nullptr) return;
    id_ = *first->id;
    who_ = first;
    who_->travels = this;
}

bool pool_successor::take(pool_member& what) {
    pool_caller* who = nullptr;
    {
        const detail::guard lock{in_.mutex_};
        who = in_.leave_line(who_);
        if (who != nullptr) ++in_.counted_.handed_over;
    }
    if (who == nullptr) return false;
    who->given = &what;
    in_.wake(*who);
    return true;
}

// The call keeps its place in the line, unless a connection has become free meanwhile.
pool_successor::~pool_successor() {
    pool_caller* who = nullptr;
    {
        const detail::guard lock{in_.mutex_};
        if (who_ == nullptr) return;
        who_->travels = nullptr;
        if (!in_.take_free(*who_)) return;
        who = in_.leave_line(who_);
    }
    in_.give(*who->given, *who);
}

// ---- the time -----------------------------------------------------------------------------------

void pool::watch_time() noexcept {
    if (watched_ || line_.first() == nullptr) return;
    local_time first = local_time::max();
    for (const pool_caller* one = line_.first(); one != nullptr; one = one->behind) {
        first = std::min(first, one->until);
    }
    try {
        time_->wait({}, socket_waiter::interest::time, first,
                    [in = weak_from_this()](socket_waiter::woken) {
                        if (const auto self = in.lock()) self->expire();
                    });
        watched_ = true;
    } catch (...) { // there is no memory left: the next call tries again
    }
}

void pool::tell_too_late(pool_caller& who) const {
    who.why = failure{.code = errc::timed_out, .possible = effect::none};
    try {
        who.why->detail =
            std::string{limits_.driver} + ": no connection of the pool was free in time";
    } catch (...) { // there is no memory left for a text
    }
}

void pool::expire() {
    pool_line late;
    {
        const detail::guard lock{mutex_};
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
        wake(*who);
    }
}

pool_counts pool::count() const {
    const detail::guard lock{mutex_};
    auto now = counted_;
    now.waiting = line_.size();
    now.free = free_.size();
    return now;
}

} // namespace semel::sql
