// The adapter for Boost.Beast with a real server and real clients.
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <filesystem>
#include <future>
#include <sqlite3.h>
#include <stdlib.h>
#include <thread>

#include <gtest/gtest.h>

#include "beast/server.hpp"
#include "http/support/client.hpp"
#include "semel/databases/sqlite/transaction.hpp"
#include "semel/open.hpp"
#include "semel/store/memory.hpp"
#include "support/scripted_transaction.hpp"

namespace semel::http::beast_test {
namespace {

using namespace std::chrono_literals;
using edge::support::answer;
using edge::support::client;
using edge::support::post;
using edge::support::post_text;

beast_response text(unsigned status, std::string body) {
    beast_response made;
    made.result(status);
    made.set("Content-Type", "text/plain");
    made.body() = std::move(body);
    return made;
}

gate orders_gate() {
    route orders{.operation = "ORDER", .path = "/orders/**"};
    orders.replay.headers = {"X-Shop"};
    orders.policy.lease = 10min; // no take-over on a slow machine
    orders.policy.wait_max = 1min;
    route strict{.operation = "STRICT", .path = "/strict", .need = key_need::required};
    route open{.operation = "OPEN", .path = "/open", .outage = store_outage::pass};
    return gate::make({.routes = {orders, strict, open}, .tenants = single_tenant{"acme"}}).value();
}

class BeastGuard : public testing::Test {
protected:
    explicit BeastGuard(std::unique_ptr<store> records = open_memory_store())
        : engine_(std::move(records), {}, {.operations = gate_.operations()}),
          guard_(engine_, gate_) {}

    // Answers with the number of the run.
    auto counting() {
        return [this](const beast_request&) {
            const int number = ++runs_;
            beast_response made = text(201, "order " + std::to_string(number));
            made.set("X-Shop", "s" + std::to_string(number));
            made.set("Set-Cookie", "secret=1");
            return made;
        };
    }

    const gate gate_ = orders_gate();
    semel::engine engine_;
    const beast_guard guard_;
    std::atomic<int> runs_ = 0;
};

TEST_F(BeastGuard, ARepeatGetsTheFirstAnswer) {
    server shop{guard_, guard_.protect(counting())};

    const answer first = post(shop.port(), {.key = "k", .body = R"({"a":1,"b":2})"});
    const answer repeat = post(shop.port(), {.key = "k", .body = R"({"b":2, "a":1})"});

    EXPECT_EQ(first.status, 201);
    EXPECT_EQ(first.header("Set-Cookie"), "secret=1");
    EXPECT_FALSE(first.replayed());
    EXPECT_EQ(repeat.status, 201);
    EXPECT_EQ(repeat.body, "order 1");
    EXPECT_EQ(repeat.header("Content-Type"), "text/plain");
    EXPECT_EQ(repeat.header("X-Shop"), "s1");
    EXPECT_TRUE(repeat.replayed());
    EXPECT_EQ(repeat.header("Set-Cookie"), "");
    EXPECT_EQ(runs_, 1);
}

TEST_F(BeastGuard, AnotherBodyIsAMismatchAndNoKeyPasses) {
    server shop{guard_, guard_.protect(counting())};
    EXPECT_EQ(post(shop.port(), {.key = "k"}).status, 201);

    EXPECT_EQ(post(shop.port(), {.key = "k", .body = "[]"}).problem(), "422 mismatch");
    EXPECT_EQ(post(shop.port(), {.body = "[]"}).body, "order 2");
    EXPECT_EQ(post(shop.port(), {.target = "/strict"}).problem(), "400 key-missing");
    EXPECT_EQ(runs_, 2);
}

asio::awaitable<beast_response> slow(std::atomic<int>& runs, const beast_request& request) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer{executor, 50ms};
    co_await timer.async_wait(asio::use_awaitable);
    co_return text(201, std::to_string(++runs) + request.body());
}

// One thread serves them all: were a repeat to block it, the first could never end.
TEST_F(BeastGuard, RepeatsWaitWithoutHoldingTheThread) {
    const auto handler = [this](const beast_request& request) { return slow(runs_, request); };
    server shop{guard_, guard_.protect(handler)};
    std::vector<client> all;
    for (int i = 0; i < 50; ++i) all.emplace_back(shop.port());
    for (client& one : all) one.send(post_text({.key = "k"}));

    for (client& one : all) EXPECT_EQ(one.receive().body, "1{}");
    EXPECT_EQ(runs_, 1);
}

TEST_F(BeastGuard, WhatIsNotKeptMayBeTriedAgain) {
    const auto failing_once = [this](const beast_request&) {
        const int number = ++runs_;
        return text(number == 1 ? 404 : 201, "run " + std::to_string(number));
    };
    server shop{guard_, guard_.protect(failing_once)};
    client keeps{shop.port()}; // one connection for all

    const answer first = keeps.ask(post_text({.key = "k"}));

    EXPECT_EQ(first.status, 404);
    EXPECT_EQ(first.body, "run 1");
    EXPECT_EQ(keeps.ask(post_text({.key = "k"})).body, "run 2");
    EXPECT_EQ(keeps.ask(post_text({.key = "k"})).body, "run 2");
}

TEST_F(BeastGuard, AnExceptionIsA500AndTheRequestRunsAgain) {
    const auto throwing_once = [this](const beast_request&, execution* running) {
        if (running == nullptr || ++runs_ == 1) throw std::runtime_error("password is hunter2");
        return text(200, "attempt " + std::to_string(running->attempt()));
    };
    server shop{guard_, guard_.protect(throwing_once)};

    const answer first = post(shop.port(), {.key = "k"});

    EXPECT_EQ(first.problem(), "500 failed");
    EXPECT_EQ(first.body.find("hunter2"), std::string::npos);
    EXPECT_EQ(post(shop.port(), {.key = "k"}).body, "attempt 2");
    EXPECT_EQ(post(shop.port()).problem(), "500 failed"); // unprotected
}

TEST_F(BeastGuard, TheResultIsStoredWithoutItsClient) {
    const auto handler = [this](const beast_request& request) { return slow(runs_, request); };
    server shop{guard_, guard_.protect(handler)};
    {
        client gone{shop.port()};
        gone.send(post_text({.key = "k"}));
        EXPECT_TRUE(gone.hears_nothing_for(5));
        gone.connection().reset();
    }

    EXPECT_EQ(post(shop.port(), {.key = "k"}).body, "1{}");
    EXPECT_EQ(runs_, 1);
}

// ---- reading

TEST_F(BeastGuard, ReadsChunksAndIgnoresTrailers) {
    server shop{guard_, guard_.protect(counting())};
    const std::string head = "POST /strict HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n";

    EXPECT_EQ(
        client{shop.port()}.ask(head + "\r\n2\r\n{}\r\n0\r\nIdempotency-Key: k\r\n\r\n").problem(),
        "400 key-missing");
    EXPECT_EQ(client{shop.port()}
                  .ask(head + "Idempotency-Key: k\r\n\r\n2\r\n{}\r\n0\r\nX: y\r\n\r\n")
                  .status,
              201);
}

TEST_F(BeastGuard, RefusesWhatBeastForgives) {
    server shop{guard_, guard_.protect(counting())};
    const std::string line = "POST /orders HTTP/1.1\r\n";
    for (const std::string head : {
             "Host: a\r\nTransfer-Encoding: gzip\r\nContent-Length: 2\r\n",
             "Host: a\r\nContent-Length: 2\r\nContent-Length: 2\r\n",
             "Host: a\r\nHost: b\r\nContent-Length: 2\r\n",
             "Content-Length: 2\r\n",
             "Host: a\r\nX: y\r\n folded\r\nContent-Length: 2\r\n",
         }) {
        client one{shop.port()};
        const answer got = one.ask(line + head + "\r\n{}");
        EXPECT_EQ(got.status / 100, 4) << head;
        EXPECT_EQ(got.header("Connection"), "close") << head;
        EXPECT_TRUE(one.connection().ends());
    }
    EXPECT_EQ(runs_, 0);
}

TEST_F(BeastGuard, BodiesAreBounded) {
    const beast_guard narrow{engine_, gate_, {.reading = {.body_bytes_max = 10}}};
    server shop{narrow, narrow.protect(counting())};

    EXPECT_EQ(post(shop.port(), {.body = "01234567890"}).problem(), "413 body-too-large");
    EXPECT_EQ(post(shop.port(), {.body = "0123456789"}).status, 201);
}

TEST_F(BeastGuard, InvitesABodyThatWaitsForIt) {
    server shop{guard_, guard_.protect(counting())};
    client one{shop.port()};
    one.send(
        "POST /orders HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");

    const auto interim = one.receive_head();
    ASSERT_TRUE(interim);
    EXPECT_EQ(interim->status, 100);
    EXPECT_EQ(one.ask("{}").status, 201);
}

TEST_F(BeastGuard, MessagesReadByBeastMustNotBeChunked) {
    beast_request read{beast::http::verb::post, "/orders", 11};
    read.set("Host", "a");
    read.set("Idempotency-Key", "k"); // perhaps from a trailer
    beast_request chunked = read;
    chunked.chunked(true);
    read.prepare_payload();

    EXPECT_FALSE(beast_incoming{std::move(read)}.refused());
    EXPECT_EQ(beast_incoming{std::move(chunked)}.refused()->status, 411);
}

// ---- callbacks

TEST_F(BeastGuard, WorksWithCallbacks) {
    const auto orders = guard_.protect(counting());
    asio::io_context loop;
    std::vector<std::string> got;
    const auto ask = [&] {
        beast_request read{beast::http::verb::post, "/orders", 11};
        read.set("Host", "a");
        read.set("Idempotency-Key", "k");
        read.prepare_payload();
        asio::co_spawn(loop, orders(beast_incoming{std::move(read)}),
                       [&](std::exception_ptr thrown, beast_response answer) {
                           EXPECT_FALSE(thrown);
                           got.push_back(answer.body());
                       });
    };

    ask();
    ask();
    loop.run();

    EXPECT_EQ(got, (std::vector<std::string>{"order 1", "order 1"}));
}

// ---- in a transaction

std::string temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
    return ::mkdtemp(name.data());
}

class BeastTransact : public BeastGuard {
protected:
    explicit BeastTransact(const std::string& folder = temporary_folder())
        : BeastGuard(open_store("sqlite:" + folder + "/orders.db").value()), folder_(folder) {
        EXPECT_EQ(::sqlite3_open((folder + "/orders.db").c_str(), &rows_), SQLITE_OK);
        run("CREATE TABLE orders (id INTEGER PRIMARY KEY)");
    }
    ~BeastTransact() override {
        database_.join();
        ::sqlite3_close(rows_);
        std::filesystem::remove_all(folder_);
    }

    void run(const char* sql) const {
        EXPECT_EQ(::sqlite3_exec(rows_, sql, nullptr, nullptr, nullptr), SQLITE_OK);
    }
    [[nodiscard]] int orders() const {
        int count = -1;
        const auto take = [](void* to, int, char** values, char**) {
            *static_cast<int*>(to) = std::atoi(values[0]);
            return 0;
        };
        ::sqlite3_exec(rows_, "SELECT count(*) FROM orders", take, &count, nullptr);
        return count;
    }
    auto transacted(std::function<beast_response(const beast_request&)> handler) {
        return guard_.transact(
            database_.get_executor(), [this] { return sqlite_transaction{rows_}; },
            std::move(handler));
    }

    const std::string folder_;
    sqlite3* rows_ = nullptr;
    asio::thread_pool database_{1}; // one connection
};

TEST_F(BeastTransact, RowsAndRecordAreCommittedTogether) {
    std::atomic<unsigned> status = 503;
    server shop{guard_, transacted([&](const beast_request&) {
                    run("INSERT INTO orders DEFAULT VALUES");
                    return text(status, "made");
                })};

    EXPECT_EQ(post(shop.port(), {.key = "k"}).status, 503);
    EXPECT_EQ(orders(), 0); // what is not kept is rolled back
    status = 404;
    EXPECT_EQ(post(shop.port(), {.key = "k"}).status, 404);
    EXPECT_EQ(orders(), 0);
    status = 201;
    EXPECT_EQ(post(shop.port(), {.key = "k"}).status, 201);
    const answer repeat = post(shop.port(), {.key = "k"});

    EXPECT_EQ(repeat.status, 201);
    EXPECT_EQ(repeat.body, "made");
    EXPECT_TRUE(repeat.replayed());
    EXPECT_EQ(orders(), 1);
    database_.join(); // before the loop it answers to
}

TEST_F(BeastTransact, AnExceptionRollsBack) {
    server shop{guard_, transacted([&](const beast_request&) -> beast_response {
                    run("INSERT INTO orders DEFAULT VALUES");
                    if (++runs_ == 1) throw std::runtime_error("no");
                    return text(201, "made");
                })};

    EXPECT_EQ(post(shop.port(), {.key = "k"}).problem(), "500 failed");
    EXPECT_EQ(orders(), 0);
    EXPECT_EQ(post(shop.port(), {.key = "k"}).body, "made");
    EXPECT_EQ(orders(), 1);
    database_.join(); // before the loop it answers to
}

// ---- without its store

// A database that loses its nth statement: begin, lock, save, commit.
class BeastOutage : public BeastGuard {
protected:
    answer post_where(std::size_t nth) {
        port_.fail({.nth = nth, .why = {.code = errc::unavailable}});
        const auto connect = [this]() -> support::scripted_transaction& { return port_; };
        server shop{guard_, guard_.transact(database_.get_executor(), connect, counting())};
        answer got = post(shop.port(), {.key = "k", .target = "/open"});
        database_.join(); // before the loop it answers to
        return got;
    }

    support::scripted_database rows_;
    support::scripted_transaction port_{rows_};
    asio::thread_pool database_{1};
};

TEST_F(BeastOutage, PassesWhereTheRouteSaysSo) {
    const answer got = post_where(0);

    EXPECT_EQ(got.status, 201);
    EXPECT_EQ(got.header("Idempotency-Protected"), "false");
    EXPECT_EQ(runs_, 1);
}

TEST_F(BeastOutage, WhatRanIsNotRunOnceMoreUnprotected) {
    const answer got = post_where(2);

    EXPECT_EQ(got.problem(), "503 unavailable");
    EXPECT_EQ(got.header("Idempotency-Protected"), "");
    EXPECT_EQ(runs_, 1);
}

} // namespace
} // namespace semel::http::beast_test
