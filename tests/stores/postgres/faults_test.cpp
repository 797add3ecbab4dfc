// Connections that the server ends.
#include <thread>

#include "postgres_fixture.hpp"

namespace semel {
namespace {

class PostgresFaults : public postgres_test {
protected:
    void terminate_backends() {
        sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%" +
            prefix() + "%' AND pid <> pg_backend_pid()");
    }
};

TEST_F(PostgresFaults, AConnectionThatWasClosedWhileIdleIsMadeAnewUnnoticed) {
    const auto store = open();
    (void)said<answers::started>(store->call(id_of("a"), begin_by(anna)));
    terminate_backends();
    std::this_thread::sleep_for(std::chrono::milliseconds{100});

    (void)said<answers::started>(store->call(id_of("b"), begin_by(anna)));
}

} // namespace
} // namespace semel
