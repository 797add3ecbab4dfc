#include "databases/postgres/client/readiness.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>

namespace semel::postgres {

using interest = socket_waiter::interest;

bool wait_for(const PGconn* what, interest ready, local_time deadline) {
    pollfd one{.fd = PQsocket(what), .events = 0, .revents = 0};
    if (ready == interest::read || ready == interest::read_and_write) one.events |= POLLIN;
    if (ready == interest::write || ready == interest::read_and_write) one.events |= POLLOUT;
    const nfds_t sockets = ready == interest::time ? 0 : 1;
    while (true) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(deadline - local_clock::now()).count();
        const int got =
            ::poll(&one, sockets, static_cast<int>(std::clamp<long>(left, 0, 1'000'000)));
        if (got > 0) return true;
        if (got < 0 && errno != EINTR) return true; // libpq meets the same error and names it
        if (local_clock::now() >= deadline) return false;
    }
}

void readiness::wait_later(unique_function<void(woken)> then) {
    const watched_socket socket{.number = PQsocket(of_), .connection = PQbackendPID(of_)};
    waits_->wait(socket, what_, deadline_, std::move(then));
}

} // namespace semel::postgres
