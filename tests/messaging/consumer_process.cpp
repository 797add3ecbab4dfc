// A consumer in a process of its own, to be killed: writes each event into a table of an SQLite
// file, in one transaction with the record that it has.
//
// usage: consumer_process URL DATABASE
#include <sqlite3.h>

#include <csignal>
#include <cstdio>

#include "semel/consumer.hpp"
#include "semel/databases/sqlite/transaction.hpp"
#include "semel/open.hpp"

namespace {

std::stop_source stopping;

void on_term(int) {
    stopping.request_stop();
}

} // namespace

int main(int argc, char** argv) {
    using namespace std::chrono_literals;
    if (argc != 3) return 2;
    std::signal(SIGTERM, on_term);
    const std::string file = argv[2];
    semel::engine engine{semel::open_store("sqlite:" + file).value()};
    sqlite3* database = nullptr;
    if (sqlite3_open(file.c_str(), &database) != SQLITE_OK) return 3;
    sqlite3_busy_timeout(database, 20'000);
    semel::sqlite_transaction connection{database};
    auto consumer = semel::consumer::open_consumer(
        argv[1],
        semel::consumer::in_transaction(
            engine, {.tenant = "acme", .operation = "BILL"},
            [&]() -> semel::transaction& { return connection; },
            [&](const semel::consumer::received& got, semel::execution&) {
                const std::string insert =
                    "INSERT INTO effects (id) VALUES ('" + got.event.id + "')";
                if (sqlite3_exec(database, insert.c_str(), nullptr, nullptr, nullptr) !=
                    SQLITE_OK) {
                    throw std::runtime_error(sqlite3_errmsg(database));
                }
            }),
        {.batch_max = 20, .retry_first = 20ms, .claim_after = 300ms});
    const auto ended = consumer.value()->run(stopping.get_token());
    if (!ended) std::fprintf(stderr, "%s\n", describe(ended.error()).c_str());
    sqlite3_close_v2(database); // the transaction still has statements of it
    return ended ? 0 : 1;
}
