#include "databases/postgres/transaction/caller_transaction.hpp"

namespace semel::postgres {

// Mostly there is nothing to wait for.
transaction_port::done caller_transaction::begin(on_locked locked) {
    if (home_.left()) return ready(opened_before_fork("postgres: the connection"));
    if (records_.entered()) {
        records_.begin(locked);
        return ready();
    }
    if (!session_.ready()) return begin_unprepared(locked);
    return ready(start(locked));
}

transaction_port::done caller_transaction::begin_unprepared(on_locked locked) {
    auto ready = co_await session_.get_ready();
    if (!ready) co_return ready;
    co_return start(locked);
}

// BEGIN itself waits for the first lock.
result<void> caller_transaction::start(on_locked locked) {
    if (auto fits = session_.check_outside(); !fits) return fits;
    records_.begin(locked);
    return {};
}

transaction_port::done caller_transaction::join() {
    if (home_.left()) co_return opened_before_fork("postgres: the connection");
    if (auto fits = session_.check_inside(); !fits) co_return fits;
    auto ready = co_await session_.get_ready_inside();
    if (!ready) co_return ready;
    records_.join();
    co_return result<void>{};
}

} // namespace semel::postgres
