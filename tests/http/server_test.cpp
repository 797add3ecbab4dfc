// The server with a plain handler: framing, keep-alive, limits, endings.
#include "edge/server/server.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "http/support/client.hpp"
#include "http/support/upstream.hpp"

namespace semel::edge::server_test {
namespace {

using namespace support;
using namespace std::chrono_literals;

// Tells what it was asked.
void echo(served_request request, reply answer) {
    http::response said{.status = 200, .headers = {{"X-Method", request.what.head.method}}};
    said.body = request.what.head.target + ":" + request.what.body;
    if (request.what.head.target == "/none") said = {.status = 204};
    if (request.what.head.target == "/not-modified") said = {.status = 304};
    answer(std::move(said));
}

std::unique_ptr<server> serving(handler answers = echo, server_options options = {},
                                doorkeeper door = {}) {
    options.threads = 2;
    options.log = null_logger();
    return server::start(std::move(options), std::move(answers), std::move(door)).value();
}

std::string get_text(std::string_view target = "/", std::string_view lines = {}) {
    return "GET " + std::string{target} + " HTTP/1.1\r\nHost: a\r\n" + std::string{lines} + "\r\n";
}

TEST(Server, KeepsConnectionsForTheNextRequest) {
    const auto server = serving();
    client one{server->address().port};
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(one.ask(post_text({.body = std::to_string(i)})).body,
                  "/orders:" + std::to_string(i));
    }
    EXPECT_EQ(server->counts().accepted, 1U);
    EXPECT_EQ(server->counts().requests, 10U);
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
    std::atomic<int> running = 0;
    std::atomic<bool> overlapped = false;
    const auto server = serving([&](served_request request, reply answer) {
        if (++running > 1) overlapped = true;
        std::thread{[&, request = std::move(request), answer = std::move(answer)]() mutable {
            --running;
            echo(std::move(request), std::move(answer));
        }}.detach();
    });
    client one{server->address().port};
    std::string all;
    for (int i = 0; i < 20; ++i) all += post_text({.body = std::to_string(i)});
    one.send(all);

    for (int i = 0; i < 20; ++i) EXPECT_EQ(one.receive().body, "/orders:" + std::to_string(i));

    EXPECT_FALSE(overlapped);
}

TEST(Server, TakesHeadsAndBodiesInAnyPieces) {
    const auto server = serving();
    client one{server->address().port};
    const std::string chunked = "POST /c HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "3;ext=1\r\nabc\r\n4\r\ndefg\r\n0\r\nX-Trailer: 1\r\n\r\n";
    for (const std::string& text : {post_text({.body = "0123456789"}), chunked}) {
        for (const char byte : text) one.send({&byte, 1});
        EXPECT_EQ(one.receive().status, 200);
    }
    EXPECT_EQ(one.ask(chunked).body, "/c:abcdefg");
}

TEST(Server, HeadHasTheLengthAndNoBody) {
    const auto server = serving();
    client one{server->address().port};
    const answer head = one.ask("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n", http1::asked_with::head);
    EXPECT_EQ(head.header("Content-Length"), "3");
    EXPECT_EQ(one.ask(get_text("/next")).body, "/next:");
}

TEST(Server, NoContentAndNotModifiedHaveNoBody) {
    const auto server = serving();
    client one{server->address().port};
    const answer none = one.ask(get_text("/none"));
    EXPECT_EQ(none.status, 204);
    EXPECT_FALSE(none.headers.contains("Content-Length"));
    EXPECT_EQ(one.ask(get_text("/not-modified")).status, 304);
    EXPECT_EQ(one.ask(get_text("/next")).body, "/next:");
}

TEST(Server, Http10IsAnsweredAndClosed) {
    const auto server = serving();
    client one{server->address().port};
    const answer got = one.ask("GET /x HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_EQ(got.body, "/x:");
    EXPECT_EQ(got.header("Connection"), "close");
    EXPECT_TRUE(one.connection().ends());
}

TEST(Server, ClosesWhereTheClientAsksForIt) {
    const auto server = serving();
    client one{server->address().port};
    EXPECT_EQ(one.ask(get_text("/x", "Connection: Close\r\n")).header("Connection"), "close");
    EXPECT_TRUE(one.connection().ends());
}

TEST(Server, InvitesTheBodyOfAClientThatWaitsForIt) {
    const auto server = serving();
    client one{server->address().port};
    const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
                             "Content-Length: 4\r\n\r\n";
    one.send(head);
    const auto interim = one.receive_head();
    ASSERT_TRUE(interim);
    EXPECT_EQ(interim->status, 100);
    EXPECT_EQ(one.ask("body").body, "/x:body");
    // One that does not wait gets no invitation.
    one.send(head + "body");
    EXPECT_EQ(one.receive_head().value().status, 200);
}

TEST(Server, BodiesOverTheLimitAre413) {
    const auto server = serving(echo, {.body_bytes_max = 100});
    EXPECT_EQ(post(server->address().port, {.body = std::string(100, 'x')}).status, 200);
    EXPECT_EQ(post(server->address().port, {.body = std::string(101, 'x')}).status, 413);
    const std::string chunk = "40\r\n" + std::string(64, 'x') + "\r\n";
    EXPECT_EQ(client{server->address().port}
                  .ask("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk +
                       chunk + "0\r\n\r\n")
                  .problem(),
              "413 body-too-large");
}

TEST(Server, RefusedClientsGetToReadTheirAnswer) {
    const auto server = serving(echo, {.body_bytes_max = 10});
    client one{server->address().port};
    one.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n");
    one.send(std::string(200'000, 'x'));
    EXPECT_EQ(one.receive().status, 413);
}

TEST(Server, DroppedRepliesAndExceptionsAre500) {
    const auto server = serving([](served_request request, reply answer) {
        if (request.what.head.target == "/throws") throw std::runtime_error("no");
        if (request.what.head.target == "/twice") {
            answer({.status = 200, .body = "once"});
            answer({.status = 200, .body = "twice"});
        }
    });
    client one{server->address().port};
    EXPECT_EQ(one.ask(get_text("/throws")).status, 500);
    EXPECT_EQ(one.ask(get_text("/drops")).status, 500);
    EXPECT_EQ(one.ask(get_text("/twice")).body, "once");
    EXPECT_EQ(one.ask(get_text("/drops")).status, 500);
}

TEST(Server, AnswersMayComeLaterFromAnotherThread) {
    std::vector<std::thread> threads;
    const auto server = serving([&](served_request, reply answer) {
        threads.emplace_back([answer = std::move(answer)]() mutable {
            std::this_thread::sleep_for(10ms);
            answer({.status = 200, .body = "late"});
        });
    });
    EXPECT_EQ(get(server->address().port).body, "late");
    for (auto& one : threads) one.join();
}

TEST(Server, AnAnswerMayOutliveItsServer) {
    reply kept;
    gate_flag asked;
    auto server = serving([&](served_request, reply answer) {
        kept = std::move(answer);
        asked.open();
    });
    client one{server->address().port};
    one.send(get_text());
    ASSERT_TRUE(asked.wait());
    server.reset();

    kept({.status = 200});

    EXPECT_TRUE(one.connection().ends());
}

TEST(Server, HandlersCannotSplitTheResponse) {
    const auto server = serving([](served_request, reply answer) {
        answer({.status = 200,
                .headers = {{"X-A", "1\r\nSet-Cookie: x"},
                            {"X\r\nB", "2"},
                            {"X-C", "3"},
                            {"Content-Length", "999"},
                            {"Transfer-Encoding", "chunked"}},
                .body = "fine"});
    });
    const answer got = get(server->address().port);
    EXPECT_EQ(got.body, "fine");
    EXPECT_EQ(got.header("X-C"), "3");
    EXPECT_FALSE(got.headers.contains("X-A"));
    EXPECT_FALSE(got.headers.contains("Set-Cookie"));
    EXPECT_EQ(got.header("Content-Length"), "4");
}

TEST(Server, ConnectionsOverTheLimitAreClosedAndCounted) {
    const auto server = serving(echo, {.connections_max = 2});
    client one{server->address().port};
    client two{server->address().port};
    EXPECT_EQ(one.ask(get_text()).status, 200);
    EXPECT_EQ(two.ask(get_text()).status, 200);

    client three{server->address().port};
    EXPECT_TRUE(three.connection().ends());

    EXPECT_EQ(server->counts().refused, 1U);
    EXPECT_EQ(one.ask(get_text()).status, 200);
}

TEST(Server, IdleAndSlowClientsAreLetGo) {
    const auto server =
        serving(echo, {.times = {.head = 300ms, .idle = 300ms, .body = 300ms, .linger = 200ms}});
    client idle{server->address().port};
    client slow_head{server->address().port};
    client slow_body{server->address().port};
    EXPECT_EQ(idle.ask(get_text()).status, 200);
    slow_head.send("GET / HT");
    slow_body.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc");

    EXPECT_TRUE(idle.connection().ends());
    EXPECT_EQ(slow_head.receive().status, 408);
    EXPECT_EQ(slow_body.receive().status, 408);
    EXPECT_TRUE(slow_body.connection().ends());
    EXPECT_TRUE(eventually([&] { return server->counts().open == 0; }));
    EXPECT_EQ(server->counts().timed_out, 2U);
}

// Its body may be on its way: a reset could overtake the answer.
TEST(Server, ARefusedHeadIsFollowedByItsBodyWithoutAReset) {
    const auto server = serving(echo);
    client one{server->address().port};
    one.send("POST / HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 5000\r\n\r\n");

    EXPECT_EQ(one.receive().status, 400);
    for (int i = 0; i < 5; ++i) {
        EXPECT_TRUE(one.send(std::string(1'000, 'x'))) << i;
        std::this_thread::sleep_for(10ms);
    }
}

TEST(Server, ClientsThatDoNotReadAreLetGo) {
    const auto server = serving(
        [](served_request, reply answer) {
            answer({.status = 200, .body = std::string(std::size_t{64} << 20U, 'x')});
        },
        {.times = {.write = 300ms, .write_rate_min = std::size_t{1} << 30U}});
    client one{server->address().port};
    one.send(get_text());
    EXPECT_TRUE(eventually([&] { return server->counts().timed_out == 1; }));
    EXPECT_TRUE(eventually([&] { return server->counts().open == 0; }));
}

TEST(Server, DrainFinishesWhatRunsAndClosesWhatIsIdle) {
    gate_flag asked, go;
    std::thread late;
    const auto server = serving([&](served_request, reply answer) {
        asked.open();
        late = std::thread{[&, answer = std::move(answer)]() mutable {
            go.wait();
            answer({.status = 200, .body = "finished"});
        }};
    });
    client idle{server->address().port};
    client busy{server->address().port};
    ASSERT_TRUE(eventually([&] { return server->counts().open == 2; }));
    busy.send(get_text());
    ASSERT_TRUE(asked.wait());

    drained how = drained::cut_off;
    std::thread drains{[&] { how = server->drain(20s); }};
    EXPECT_TRUE(idle.connection().ends());
    go.open();
    const answer got = busy.receive();
    drains.join();
    late.join();

    EXPECT_EQ(got.body, "finished");
    EXPECT_EQ(got.header("Connection"), "close");
    EXPECT_EQ(how, drained::all);
    EXPECT_THROW(client{server->address().port}, std::runtime_error);
}

TEST(Server, DrainIsBounded) {
    std::vector<reply> kept;
    gate_flag asked;
    const auto server = serving([&](served_request, reply answer) {
        kept.push_back(std::move(answer));
        asked.open();
    });
    client busy{server->address().port};
    busy.send(get_text());
    ASSERT_TRUE(asked.wait());

    EXPECT_EQ(server->drain(50ms), drained::cut_off);
    kept.clear();
}

// ---- the doorkeeper

TEST(ServerDoor, RefusesBeforeTheBodyIsTaken) {
    const auto server =
        serving(echo, {}, [](const http::request_head& head, std::string_view) -> body_admission {
            if (head.headers.contains("Authorization")) return {};
            return {.refusal = http::response{.status = 401}};
        });
    const std::string announced = "Content-Length: 1000000\r\n\r\n";
    client stranger{server->address().port};
    const answer refused = stranger.ask("POST / HTTP/1.1\r\nHost: a\r\n" + announced);
    EXPECT_EQ(refused.status, 401);
    EXPECT_EQ(refused.header("Connection"), "close");

    EXPECT_EQ(client{server->address().port}.ask(get_text()).status, 200); // has no body
    const answer known = client{server->address().port}.ask(
        post_text({.body = "x", .headers = "Authorization: Bearer a\r\n"}));
    EXPECT_EQ(known.body, "/orders:x");
}

TEST(ServerDoor, BoundsTheBody) {
    const auto server = serving(echo, {}, [](const http::request_head&, std::string_view) {
        return body_admission{.bytes_max = 5};
    });
    const auto status = [&](std::string_view raw) {
        return client{server->address().port}.ask(raw).status;
    };

    EXPECT_EQ(status(post_text({.body = "12345"})), 200);
    EXPECT_EQ(status(post_text({.body = "123456"})), 413);
    // What is announced is refused before it comes.
    EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\n"), 413);
    EXPECT_EQ(status("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                     "6\r\n123456\r\n0\r\n\r\n"),
              413);
}

// A body may take long to be read. Here it takes until the test is over.
TEST(Server, ALargeBodyHoldsUpNobodyElse) {
    gate_flag go;
    server_options one_thread{.log = null_logger()};
    one_thread.threads = 1;
    const auto server = server::start(one_thread, [&](served_request request, reply answer) {
                            if (!request.what.body.empty()) go.wait();
                            echo(std::move(request), std::move(answer));
                        }).value();
    client slow{server->address().port};
    slow.send(post_text({.body = std::string(apart_bytes + 1, 'x')}));

    for (int i = 0; i < 10; ++i) EXPECT_EQ(get(server->address().port).status, 200);

    go.open();
    EXPECT_EQ(slow.receive().status, 200);
}

TEST(Server, ALargeBodyWhoseClientHasGoneIsNoTrouble) {
    gate_flag go;
    std::atomic<int> done = 0;
    const auto server = serving([&](served_request request, reply answer) {
        if (!request.what.body.empty()) go.wait();
        echo(std::move(request), std::move(answer));
        ++done;
    });
    for (std::size_t i = 1; i <= 3; ++i) {
        client goes{server->address().port};
        goes.send(post_text({.body = std::string(apart_bytes + 1, 'x')}));
        ASSERT_TRUE(eventually([&] { return server->counts().buffered > i * apart_bytes; }));
        goes.connection().reset();
    }
    go.open();

    EXPECT_TRUE(eventually([&] { return done == 3 && server->counts().buffered == 0; }));
}

// ---- a listener that must be reached in need

server_options small_and_open() {
    server_options made;
    made.threads = 1;
    made.connections_max = 5;
    made.when_full = server_options::full::replaces;
    made.log = null_logger();
    return made;
}

TEST(FullServer, ClosesTheConnectionThatHasWaitedLongest) {
    const auto server = server::start(small_and_open(), echo).value();
    std::vector<client> idle;
    for (int i = 0; i < 5; ++i) {
        idle.emplace_back(server->address().port);
        EXPECT_EQ(idle.back().ask(get_text()).status, 200);
    }
    EXPECT_EQ(idle.front().ask(get_text()).status, 200); // so the second has waited longest

    EXPECT_EQ(get(server->address().port).status, 200);

    EXPECT_TRUE(idle[1].connection().ends());
    EXPECT_EQ(idle.front().ask(get_text()).status, 200);
    EXPECT_EQ(server->counts().refused, 1U);
}

// Silence, half a head, half a body, and an answer that is not read: none keeps a place.
TEST(FullServer, IsReachedWhateverItsClientsDo) {
    const auto server = server::start(small_and_open(), [](served_request request, reply answer) {
                            const bool large = request.what.head.target == "/large";
                            const std::size_t size = large ? std::size_t{64} << 20U : 1;
                            answer({.status = 200, .body = std::string(size, 'x')});
                        }).value();
    const std::vector<std::string> texts = {
        "", "GET / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab",
        get_text("/large"), ""};
    std::vector<client> holds;
    for (int round = 0; round < 20; ++round) {
        holds.emplace_back(server->address().port);
        holds.back().send(texts[static_cast<std::size_t>(round) % texts.size()]);
        EXPECT_EQ(get(server->address().port).status, 200) << round;
    }
}

TEST(FullServer, RequestsUnderWayAreNotDisturbed) {
    std::mutex mutex;
    std::vector<reply> kept;
    const auto server = server::start(small_and_open(), [&](served_request request, reply answer) {
                            if (request.what.head.target != "/kept") {
                                return echo(std::move(request), std::move(answer));
                            }
                            const std::lock_guard lock{mutex};
                            kept.push_back(std::move(answer));
                        }).value();
    std::vector<client> busy;
    for (std::size_t i = 1; i <= 5; ++i) {
        busy.emplace_back(server->address().port);
        busy.back().send(get_text("/kept"));
        ASSERT_TRUE(eventually([&] {
            const std::lock_guard lock{mutex};
            return kept.size() == i;
        }));
    }

    client sixth{server->address().port};
    EXPECT_TRUE(sixth.connection().ends());
    for (auto& answer : kept) answer({.status = 204});
    for (client& one : busy) EXPECT_EQ(one.receive().status, 204);
}

TEST(Server, SaysWhatIsWrongWithItsOptions) {
    const auto why = [](server_options options) {
        const auto made = server::start(std::move(options), echo);
        return made ? std::string{"started"} : made.error().detail;
    };
    EXPECT_EQ(why({.connections_max = 0}), "connections_max: must not be zero");
    EXPECT_EQ(why({.times = {.head = 0s}}), "times.head: must be longer than nothing");
    EXPECT_EQ(why({.tls = tls_server_options{.certificate_file = "a"}}),
              "tls: needs both a certificate and its key");
    EXPECT_NE(why({.tls = tls_server_options{.certificate_file = "/none", .key_file = "/none"}})
                  .find("/none"),
              std::string::npos);
    const auto taken = serving();
    EXPECT_NE(why({.listen = taken->address()}).find("cannot listen on"), std::string::npos);
}

} // namespace
} // namespace semel::edge::server_test
