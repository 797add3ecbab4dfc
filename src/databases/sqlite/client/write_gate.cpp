#include "databases/sqlite/client/write_gate.hpp"

#include <algorithm>

#include "semel/base/mutex.hpp"

namespace semel::sqlite {

result<write_gate::pass> write_gate::enter(duration patience) {
    detail::guard lock{mutex_};
    if (!taken_) {
        taken_ = true;
        return pass{*this};
    }
    waiter me;
    waiting_.push_back(&me);
    if (me.turn.wait_for(lock, patience, [&] { return me.admitted; })) return pass{*this};
    waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &me));
    return failure{.code = errc::timed_out,
                   .possible = effect::none,
                   .detail =
                       "sqlite: other commands kept the file locked; check the disk, or raise "
                       "lock_wait"};
}

void write_gate::leave() {
    const detail::guard lock{mutex_};
    if (waiting_.empty()) {
        taken_ = false;
        return;
    }
    // The gate stays taken: the caller that has waited longest gets it directly.
    waiter* const next = waiting_.front();
    waiting_.pop_front();
    next->admitted = true;
    next->turn.notify_one();
}

} // namespace semel::sqlite
