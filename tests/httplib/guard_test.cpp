// The adapter for cpp-httplib with a real server and real clients.
#include "semel/http/httplib.hpp"

#include <atomic>
#include <filesystem>
#include <future>
#include <sqlite3.h>
#include <stdlib.h>
#include <thread>

#include <gtest/gtest.h>

#include "semel/databases/sqlite/transaction.hpp"
#include "semel/open.hpp"
#include "semel/store/memory.hpp"
#include "support/scripted_transaction.hpp"

namespace semel::http::httplib_test {
namespace {

using namespace std::chrono_literals;

gate orders_gate() {
    route orders{.operation = "ORDER", .path = "/orders/**"};
    orders.replay.headers = {"X-Shop"};
    orders.policy.lease = 10min; // no take-over on a slow machine
    route strict{.operation = "STRICT", .path = "/strict", .need = key_need::required};
    route open{.operation = "OPEN", .path = "/open", .outage = store_outage::pass};
    return gate::make({.routes = {orders, strict, open}, .tenants = single_tenant{"acme"}}).value();
}

class HttplibGuard : public testing::Test {
protected:
    explicit HttplibGuard(std::unique_ptr<store> records = open_memory_store())
        : engine_(std::move(records), {}, {.operations = gate_.operations()}),
          guard_(engine_, gate_) {}
    ~HttplibGuard() override {
        server_.stop();
        if (thread_.joinable()) thread_.join();
    }

    void start() {
        port_ = server_.bind_to_any_port("127.0.0.1");
        thread_ = std::thread{[this] { server_.listen_after_bind(); }};
        while (!server_.is_running()) std::this_thread::yield();
    }

    ::httplib::Result post(const char* path, const std::string& key, const std::string& body,
                           const char* type = "application/json") const {
        ::httplib::Client client{"127.0.0.1", port_};
        client.set_read_timeout(60s);
        ::httplib::Headers headers;
        if (!key.empty()) headers.emplace("Idempotency-Key", key);
        return client.Post(path, headers, body, type);
    }

    // Answers with the number of the run.
    auto counting() {
        return [this](const ::httplib::Request&, ::httplib::Response& answer) {
            const int number = ++runs_;
            answer.status = 201;
            answer.set_header("X-Shop", "s" + std::to_string(number));
            answer.set_header("Set-Cookie", "secret=1");
            answer.set_content("order " + std::to_string(number), "text/plain");
        };
    }

    const gate gate_ = orders_gate();
    semel::engine engine_;
    const httplib_guard guard_;
    ::httplib::Server server_;
    std::thread thread_;
    int port_ = 0;
    std::atomic<int> runs_ = 0;
};

TEST_F(HttplibGuard, ARepeatGetsTheFirstAnswer) {
    server_.Post("/orders", guard_.protect(counting()));
    start();

    const auto first = post("/orders", "k", R"({"a":1,"b":2})");
    const auto repeat = post("/orders", "k", R"({"b":2, "a":1})");

    ASSERT_TRUE(first && repeat);
    EXPECT_EQ(first->status, 201);
    EXPECT_EQ(first->get_header_value("Set-Cookie"), "secret=1");
    EXPECT_EQ(repeat->status, 201);
    EXPECT_EQ(repeat->body, "order 1");
    EXPECT_EQ(repeat->get_header_value("Content-Type"), "text/plain");
    EXPECT_EQ(repeat->get_header_value("X-Shop"), "s1");
    EXPECT_EQ(repeat->get_header_value("Idempotent-Replayed"), "true");
    EXPECT_FALSE(repeat->has_header("Set-Cookie"));
    EXPECT_EQ(runs_, 1);
}

TEST_F(HttplibGuard, AnotherBodyIsAMismatchAndNoKeyPasses) {
    server_.Post("/orders", guard_.protect(counting()));
    server_.Post("/strict", guard_.protect(counting()));
    start();
    post("/orders", "k", "{}");

    EXPECT_EQ(post("/orders", "k", "[]")->status, 422);
    EXPECT_EQ(post("/orders", "", "[]")->body, "order 2");
    EXPECT_EQ(post("/strict", "", "[]")->status, 400);
    EXPECT_EQ(post("/strict", "", "[]")->get_header_value("Content-Type"),
              "application/problem+json");
    EXPECT_EQ(runs_, 2);
}

TEST_F(HttplibGuard, PartsOfAFormAreCompared) {
    server_.Post("/orders", guard_.protect(counting()));
    start();
    const auto send = [&](const std::string& content) {
        ::httplib::Client client{"127.0.0.1", port_};
        const ::httplib::MultipartFormDataItems parts = {{"file", content, "a.txt", "text/plain"}};
        return client.Post("/orders", {{"Idempotency-Key", "k"}}, parts);
    };

    EXPECT_EQ(send("one")->status, 201);
    EXPECT_EQ(send("two")->status, 422);
    EXPECT_EQ(send("one")->status, 201); // under another boundary
    EXPECT_EQ(runs_, 1);
}

// Few enough clients for httplib's backlog of five connections.
TEST_F(HttplibGuard, ManyAtOnceRunOnce) {
    server_.Post("/orders", guard_.protect(counting()));
    start();
    std::vector<std::future<int>> all;
    for (int i = 0; i < 4; ++i) {
        all.push_back(std::async(std::launch::async, [&] {
            ::httplib::Client client{"127.0.0.1", port_};
            client.set_keep_alive(true);
            client.set_read_timeout(60s);
            int same = 0;
            for (int n = 0; n < 25; ++n) {
                const auto got =
                    client.Post("/orders", {{"Idempotency-Key", "k"}}, "{}", "application/json");
                same += got && got->body == "order 1" ? 1 : 0;
            }
            return same;
        }));
    }

    for (auto& one : all) EXPECT_EQ(one.get(), 25);
    EXPECT_EQ(runs_, 1);
}

TEST_F(HttplibGuard, WhatIsNotKeptMayBeTriedAgain) {
    const auto failing_once = [this](const ::httplib::Request&, ::httplib::Response& answer) {
        answer.status = ++runs_ == 1 ? 404 : 201;
        answer.set_content("run " + std::to_string(runs_), "text/plain");
    };
    server_.Post("/orders", guard_.protect(failing_once));
    start();

    const auto first = post("/orders", "k", "{}");
    const auto second = post("/orders", "k", "{}");

    EXPECT_EQ(first->status, 404);
    EXPECT_EQ(first->body, "run 1");
    EXPECT_EQ(second->body, "run 2");
    EXPECT_EQ(post("/orders", "k", "{}")->body, "run 2");
}

TEST_F(HttplibGuard, AnExceptionIsA500AndTheRequestRunsAgain) {
    const auto throwing_once = [this](const ::httplib::Request&, ::httplib::Response& answer,
                                      execution* running) {
        ASSERT_NE(running, nullptr);
        if (++runs_ == 1) throw std::runtime_error("password is hunter2");
        answer.set_content("attempt " + std::to_string(running->attempt()), "text/plain");
    };
    server_.Post("/orders", guard_.protect(throwing_once));
    start();

    const auto first = post("/orders", "k", "{}");

    EXPECT_EQ(first->status, 500);
    EXPECT_EQ(first->body.find("hunter2"), std::string::npos);
    EXPECT_EQ(post("/orders", "k", "{}")->body, "attempt 2");
}

TEST_F(HttplibGuard, StreamedAnswersAreKeptWhole) {
    const auto streaming = [this](const ::httplib::Request&, ::httplib::Response& answer) {
        ++runs_;
        answer.set_chunked_content_provider("text/plain",
                                            [](std::size_t at, ::httplib::DataSink& to) {
                                                if (at == 0) return to.write("one ", 4);
                                                to.write("two", 3);
                                                to.done();
                                                return true;
                                            });
    };
    server_.Post("/orders", guard_.protect(streaming));
    start();

    EXPECT_EQ(post("/orders", "k", "{}")->body, "one two");
    EXPECT_EQ(post("/orders", "k", "{}")->body, "one two");
    EXPECT_EQ(runs_, 1);
}

// ---- in a transaction

std::string temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
    return ::mkdtemp(name.data());
}

class HttplibTransact : public HttplibGuard {
protected:
    explicit HttplibTransact(const std::string& folder = temporary_folder())
        : HttplibGuard(open_store("sqlite:" + folder + "/orders.db").value()), folder_(folder) {
        EXPECT_EQ(::sqlite3_open((folder + "/orders.db").c_str(), &rows_), SQLITE_OK);
        run("CREATE TABLE orders (id INTEGER PRIMARY KEY)");
    }
    ~HttplibTransact() override {
        server_.stop();
        if (thread_.joinable()) thread_.join();
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

    const std::string folder_;
    sqlite3* rows_ = nullptr;
};

TEST_F(HttplibTransact, RowsAndRecordAreCommittedTogether) {
    int status = 503;
    const auto handler = [&](const ::httplib::Request&, ::httplib::Response& answer) {
        run("INSERT INTO orders DEFAULT VALUES");
        answer.status = status;
        answer.set_content("made", "text/plain");
    };
    server_.new_task_queue = [] { return new ::httplib::ThreadPool(1); }; // one connection
    server_.Post("/orders", guard_.transact([this] { return sqlite_transaction{rows_}; }, handler));
    start();

    EXPECT_EQ(post("/orders", "k", "{}")->status, 503);
    EXPECT_EQ(orders(), 0); // what is not kept is rolled back
    status = 201;
    EXPECT_EQ(post("/orders", "k", "{}")->status, 201);
    const auto repeat = post("/orders", "k", "{}");

    EXPECT_EQ(repeat->status, 201);
    EXPECT_EQ(repeat->body, "made");
    EXPECT_EQ(repeat->get_header_value("Idempotent-Replayed"), "true");
    EXPECT_EQ(orders(), 1);
}

// ---- without its store

// A database that loses its nth statement: begin, lock, save, commit.
class HttplibOutage : public HttplibGuard {
protected:
    ::httplib::Result post_where(std::size_t nth) {
        port_to_rows_.fail({.nth = nth, .why = {.code = errc::unavailable}});
        const auto connect = [this]() -> support::scripted_transaction& { return port_to_rows_; };
        server_.Post("/open", guard_.transact(connect, counting()));
        start();
        return post("/open", "k", "{}");
    }

    support::scripted_database rows_;
    support::scripted_transaction port_to_rows_{rows_};
};

TEST_F(HttplibOutage, PassesWhereTheRouteSaysSo) {
    const auto got = post_where(0);

    EXPECT_EQ(got->status, 201);
    EXPECT_EQ(got->get_header_value("Idempotency-Protected"), "false");
    EXPECT_EQ(runs_, 1);
}

TEST_F(HttplibOutage, WhatRanIsNotRunOnceMoreUnprotected) {
    const auto got = post_where(2);

    EXPECT_EQ(got->status, 503);
    EXPECT_FALSE(got->has_header("Idempotency-Protected"));
    EXPECT_EQ(runs_, 1);
}

} // namespace
} // namespace semel::http::httplib_test
