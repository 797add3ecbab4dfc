#include "store/waiting_rooms.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <limits>

namespace semel {

static_assert(sizeof(std::atomic<int>) == sizeof(int) && std::atomic<int>::is_always_lock_free);

void waiting_room::sleep(int ticket) {
    sleepers_.fetch_add(1);
    // wake() first moves the word and then counts the sleepers; here it is the other way round, so
    // one of the two sees the other.
    if (word_.load() == ticket) {
        ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, ticket, nullptr, nullptr, 0);
    }
    sleepers_.fetch_sub(1);
}

void waiting_room::wake_one() {
    wake(1);
}

void waiting_room::wake_all() {
    wake(std::numeric_limits<int>::max());
}

void waiting_room::wake(int how_many) {
    word_.fetch_add(1);
    if (sleepers_.load() == 0) return;
    ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, how_many, nullptr, nullptr, 0);
}

waiting_room& waiting_rooms::seat() {
    if (taken_ == seats_) next();
    ++taken_;
    return rooms_[open_];
}

void waiting_rooms::next() {
    if (taken_ == 0) return;
    taken_ = 0;
    open_ = (open_ + 1) % rooms_.size();
}

} // namespace semel
