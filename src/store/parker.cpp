#include "store/parker.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <memory>
#include <mutex>
#include <vector>

namespace semel {

namespace {

class pool {
public:
    static pool& instance() {
        // Leaked on purpose: threads may outlive static destruction.
        static pool* the = new pool;
        return *the;
    }

    parker* take() {
        const std::lock_guard lock{mutex_};
        if (free_.empty()) {
            all_.push_back(std::make_unique<parker>());
            return all_.back().get();
        }
        parker* one = free_.back();
        free_.pop_back();
        return one;
    }

    void give_back(parker* one) {
        const std::lock_guard lock{mutex_};
        free_.push_back(one);
    }

private:
    std::mutex mutex_;
    std::vector<std::unique_ptr<parker>> all_;
    std::vector<parker*> free_;
};

struct loan {
    parker* it = pool::instance().take();
    ~loan() { pool::instance().give_back(it); }
};

} // namespace

parker& parker::mine() {
    thread_local loan own;
    return *own.it;
}

static_assert(sizeof(std::atomic<int>) == sizeof(int) && std::atomic<int>::is_always_lock_free);

void parker::park(int ticket) {
    asleep_.store(true);
    // unpark() first moves the word and then looks at the flag; here it is the other way round, so
    // one of the two sees the other.
    if (word_.load() == ticket) {
        ::syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, ticket, nullptr, nullptr, 0);
    }
    asleep_.store(false);
}

void parker::unpark() {
    word_.fetch_add(1);
    if (asleep_.load()) ::syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

} // namespace semel
