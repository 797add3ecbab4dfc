// A consumer of orders with a database of its own, an SQLite file.
//
// usage: e2e_consumer billing|mailing URL FILE
//
// billing: the bill and the inbox's record are one transaction. Nothing but the record keeps an
// order from having two bills.
// mailing: over consume_batch. The mailer is another's, and goes by the child key: what it gets
// once more it only counts.
#include <sqlite3.h>

#include <csignal>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include "semel/consumer.hpp"
#include "semel/databases/sqlite/transaction.hpp"
#include "semel/open.hpp"

namespace {

std::stop_source stopping;

void on_term(int) {
    stopping.request_stop();
}

class database {
public:
    explicit database(const char* file) {
        if (sqlite3_open(file, &it_) != SQLITE_OK) throw std::runtime_error("cannot open");
        sqlite3_busy_timeout(it_, 20'000);
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;
    ~database() { sqlite3_close(it_); }

    [[nodiscard]] sqlite3* native() const { return it_; }

    void insert(const char* sql, const semel::outbox::event& about, const std::string& child) {
        sqlite3_stmt* statement = nullptr;
        sqlite3_prepare_v2(it_, sql, -1, &statement, nullptr);
        bind(statement, 1, about.key);
        bind(statement, 2, about.payload);
        bind(statement, 3, child);
        sqlite3_step(statement);
        if (sqlite3_finalize(statement) != SQLITE_OK) {
            throw std::runtime_error(sqlite3_errmsg(it_));
        }
    }

private:
    static void bind(sqlite3_stmt* to, int nth, const std::string& text) {
        sqlite3_bind_text(to, nth, text.data(), static_cast<int>(text.size()), SQLITE_STATIC);
    }

    sqlite3* it_ = nullptr;
};

semel::consumer::handler billing(semel::engine& inbox, database& own, semel::transaction& here) {
    return semel::consumer::in_transaction(
        inbox, {.tenant = "acme", .operation = "BILL"},
        [&]() -> semel::transaction& { return here; },
        [&](const semel::consumer::received& got, semel::execution& run) {
            own.insert("INSERT INTO effects (key, number, child) VALUES (?, ?, ?)", got.event,
                       run.child_key("bill"));
        });
}

semel::consumer::handler mailing(semel::engine& inbox, database& own) {
    using namespace std::chrono_literals;
    return semel::consumer::once_each(
        inbox, {.tenant = "acme", .operation = "MAIL", .with = {.lease = 1s}},
        [&](const semel::consumer::received& got, semel::execution& run) {
            own.insert("INSERT INTO effects (key, number, child) VALUES (?, ?, ?) "
                       "ON CONFLICT (child) DO UPDATE SET runs = runs + 1",
                       got.event, run.child_key("mail"));
        });
}

} // namespace

int main(int argc, char** argv) {
    using namespace std::chrono_literals;
    if (argc != 4) return 2;
    std::signal(SIGTERM, on_term);
    const std::string_view kind = argv[1];
    semel::engine inbox{semel::open_store("sqlite:" + std::string{argv[3]}).value()};
    database own{argv[3]};
    semel::sqlite_transaction here{own.native()};
    auto consumer = semel::consumer::open_consumer(
        argv[2], kind == "billing" ? billing(inbox, own, here) : mailing(inbox, own),
        {.batch_max = 50, .retry_first = 50ms, .retry_max = 1s, .claim_after = 1s});
    const auto ended = consumer.value()->run(stopping.get_token());
    if (!ended) std::fprintf(stderr, "%s\n", describe(ended.error()).c_str());
    return ended ? 0 : 1;
}
