// A service that books orders: the row, the event about it and the record of the request are one
// transaction on PostgreSQL or MySQL. Nothing but the record keeps a key from having two rows.
//
// usage: e2e_service PORT DATABASE PREFIX
#include <libpq-fe.h>
#include <pthread.h>
#include <sys/socket.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include <httplib.h>

#include "semel/databases/mysql/outbox.hpp"
#include "semel/databases/mysql/transaction.hpp"
#include "semel/databases/postgres/outbox.hpp"
#include "semel/databases/postgres/transaction.hpp"
#include "semel/engine.hpp"
#include "semel/http/httplib.hpp"
#include "semel/open.hpp"
#include "semel/outbox.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/relay.hpp"
#include "semel/outbox/table.hpp"
#include "support/mysql_server.hpp"

namespace {

struct place {
    std::string database;
    std::string prefix;
};

class postgres_side {
public:
    explicit postgres_side(const place& at)
        : prefix_(at.prefix),
          native_(PQconnectdb((at.database + "?sslmode=disable&gssencmode=disable").c_str())) {
        if (PQstatus(native_) != CONNECTION_OK) throw std::runtime_error(PQerrorMessage(native_));
    }
    postgres_side(const postgres_side&) = delete;
    postgres_side& operator=(const postgres_side&) = delete;
    ~postgres_side() { PQfinish(native_); }

    semel::transaction& transaction() { return transaction_; }
    semel::outbox::writer& writer() { return writer_; }

    std::string insert(const std::string& key) {
        const std::string sql =
            "INSERT INTO " + prefix_ + "orders (request) VALUES ($1) RETURNING number";
        const char* const values[] = {key.c_str()};
        PGresult* const got =
            PQexecParams(native_, sql.c_str(), 1, nullptr, values, nullptr, nullptr, 0);
        const bool made = PQresultStatus(got) == PGRES_TUPLES_OK;
        const std::string number = made ? PQgetvalue(got, 0, 0) : "";
        PQclear(got);
        if (!made) throw std::runtime_error(PQerrorMessage(native_));
        return number;
    }

private:
    const std::string prefix_;
    PGconn* const native_;
    semel::postgres_transaction transaction_{native_, {.table_prefix = prefix_}};
    semel::outbox::postgres_writer writer_{native_, prefix_};
};

class mysql_side {
public:
    explicit mysql_side(const place& at)
        : prefix_(at.prefix), client_(std::stoi(at.database.substr(at.database.rfind(':') + 1))) {}

    semel::transaction& transaction() { return transaction_; }
    semel::outbox::writer& writer() { return writer_; }

    // The keys of the test have nothing to escape.
    std::string insert(const std::string& key) {
        client_.sql("INSERT INTO " + prefix_ + "orders (request) VALUES ('" + key + "')");
        return std::to_string(mysql_insert_id(client_.native()));
    }

private:
    const std::string prefix_;
    semel::testing_support::mysql_client client_;
    semel::mysql_transaction transaction_{client_.native(), {.table_prefix = prefix_}};
    semel::outbox::mysql_writer writer_{client_.native(), prefix_};
};

// The connection of one thread, for as long as the process lives.
class session {
public:
    virtual ~session() = default;
    virtual semel::transaction& transaction() = 0;
    // In the transaction that is open; says the order's number.
    virtual std::string book(const semel::execution& run) = 0;
};

template <class Side> class session_on final : public session {
public:
    explicit session_on(const place& at) : side_(at) {}

    semel::transaction& transaction() override { return side_.transaction(); }
    std::string book(const semel::execution& run) override {
        const std::string number = side_.insert(run.key());
        outbox_
            .append(side_.writer(), {.topic = "orders", .key = run.key(), .payload = number},
                    semel::outbox::origin_of(run))
            .value();
        return number;
    }

private:
    Side side_;
    const semel::outbox::appender outbox_;
};

std::unique_ptr<session> make_session(const place& at) {
    if (at.database.starts_with("mysql:")) return std::make_unique<session_on<mysql_side>>(at);
    return std::make_unique<session_on<postgres_side>>(at);
}

session& mine(const place& at) {
    thread_local const std::unique_ptr<session> it = make_session(at);
    return *it;
}

void listen_here(httplib::Server& server, int port, const sigset_t& term) {
    server.set_socket_options([](socket_t on) {
        const int yes = 1; // the one before was killed a moment ago
        ::setsockopt(on, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    });
    server.set_tcp_nodelay(true);
    server.set_keep_alive_max_count(1'000'000);
    server.set_keep_alive_timeout(60);
    server.new_task_queue = [] { return new httplib::ThreadPool(24); }; // one per connection
    std::thread{[&server, term] {
        int which = 0;
        sigwait(&term, &which);
        server.stop();
    }}.detach();
    if (!server.listen("127.0.0.1", port)) throw std::runtime_error("cannot listen");
}

// Before there are threads, which inherit it.
sigset_t block_term() {
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &term, nullptr);
    return term;
}

int serve(int port, const place& at) {
    const sigset_t term = block_term();
    const auto gate = semel::http::gate::make({.routes = {{.operation = "BOOK", .path = "/orders"}},
                                               .tenants = semel::http::single_tenant{"acme"}})
                          .value();
    semel::engine engine{semel::open_store(at.database + "?prefix=" + at.prefix).value(),
                         {},
                         {.operations = gate.operations()}};
    const semel::http::httplib_guard guard{engine, gate};
    httplib::Server server;
    server.Post("/orders",
                guard.transact(
                    [&]() -> semel::transaction& { return mine(at).transaction(); },
                    [&](const httplib::Request&, httplib::Response& answer, semel::execution* run) {
                        if (run == nullptr) return void(answer.status = 400);
                        answer.status = 201;
                        answer.set_content(mine(at).book(*run), "text/plain");
                    }));
    listen_here(server, port, term);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    try {
        return serve(std::stoi(argv[1]), {.database = argv[2], .prefix = argv[3]});
    } catch (const std::exception& why) {
        std::fprintf(stderr, "%s\n", why.what());
        return 1;
    }
}
