// What an upstream may do to a gateway: die, dawdle, answer early, late, in pieces, or nonsense.
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "http/support/rig.hpp"

namespace semel::edge::upstream_test {
namespace {

using namespace support;
using namespace std::chrono_literals;

http::route expiring(lease_expiry how) {
    http::route one{.operation = "ORDER"};
    one.policy.on_lease_expiry = how;
    one.policy.wait = wait_mode::answer;
    one.policy.grace = 0s;
    return one;
}

// A port nobody listens on.
std::uint16_t dead_port() {
    return listening_socket{}.port();
}

TEST(Upstream, R_21_UnreachableIsRetryableAndNothingIsLost) {
    const std::uint16_t port = dead_port();
    rig all{{.adjust = [&](gateway_options& options) { options.upstream.url.at.port = port; }}};

    const answer first = all.post("k");
    const answer passing = get(all.port());

    EXPECT_EQ(first.problem(), "503 upstream-unreachable");
    EXPECT_FALSE(first.header("Retry-After").empty());
    EXPECT_EQ(passing.problem(), "503 upstream-unreachable");
    EXPECT_EQ(all.post("k").problem(), "503 upstream-unreachable"); // tried again, not "in doubt"
    EXPECT_EQ(all.gateway().counts().unsent, 2U);
}

TEST(Upstream, R_21_UnreachableUsesUpNoAttempts) {
    const std::uint16_t port = dead_port();
    http::route two{.operation = "ORDER"};
    two.policy.attempts_max = 2;
    rig all{{.routes = {two},
             .adjust = [&](gateway_options& options) { options.upstream.url.at.port = port; }}};

    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(all.post("k").problem(), "503 upstream-unreachable") << i;
    }
}

// Of an attempt that may have run the record must go on to tell.
TEST(Upstream, UnreachableDoesNotForgetAnEarlierAttempt) {
    std::optional<listening_socket> first{std::in_place};
    http::route two = expiring(lease_expiry::retry);
    two.policy.attempts_max = 2;
    rig all{{.routes = {two}, .adjust = [&](gateway_options& options) {
                 options.upstream.url.at.port = first->port();
             }}};
    std::jthread dying{[&] {
        socket one = first->accept().value();
        (void)one.read_some();
        one.reset();
    }};
    EXPECT_EQ(all.post("k").problem(), "504 outcome-unknown");
    dying.join();
    first.reset();

    EXPECT_EQ(all.post("k").problem(), "503 upstream-unreachable");
    EXPECT_EQ(all.post("k").problem(), "503 failed"); // both attempts are used up
}

// Those who wait for the first try in turn, each once, and are all answered.
TEST(Upstream, UnreachableIsTriedOnceForEachWhoWaits) {
    constexpr int crowd = 30;
    const std::uint16_t port = dead_port();
    rig all{{.adjust = [&](gateway_options& options) { options.upstream.url.at.port = port; }}};
    std::vector<client> waiting;
    for (int i = 0; i < crowd; ++i) waiting.emplace_back(all.port());
    for (client& one : waiting) one.send(post_text({.key = "k"}));

    for (client& one : waiting) EXPECT_EQ(one.receive().problem(), "503 upstream-unreachable");
    EXPECT_EQ(all.gateway().counts().unsent, crowd);
}

TEST(Upstream, DiesWithTheRequestAndTheOutcomeIsUnknown) {
    rig all{{.routes = {expiring(lease_expiry::hold)}}};
    all.behind.now_does([](const seen_request&, socket& to) { to.reset(); });

    EXPECT_EQ(all.post("k").problem(), "504 outcome-unknown");
    EXPECT_EQ(all.post("k").problem(), "409 in-doubt");
    EXPECT_EQ(all.behind.requests(), 1);
    EXPECT_EQ(all.gateway().counts().unanswered, 1U);
}

TEST(Upstream, DiesInTheMiddleOfItsAnswerAndTheOutcomeIsUnknown) {
    for (const std::string part :
         {"HTTP/1.1 20", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"}) {
        rig all{{.routes = {expiring(lease_expiry::hold)}}};
        all.behind.now_does([&](const seen_request&, socket& to) {
            to.write(part);
            to.shutdown();
        });
        EXPECT_EQ(all.post("k").problem(), "504 outcome-unknown") << part;
        EXPECT_EQ(all.post("k").problem(), "409 in-doubt") << part;
    }
}

// Of an answer without a length only an orderly end is the end.
TEST(Upstream, BreaksOffAnAnswerWithoutALengthAndTheOutcomeIsUnknown) {
    rig all{{.routes = {expiring(lease_expiry::hold)}}};
    all.behind.now_does([&](const seen_request&, socket& to) {
        to.write("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\npartial");
        std::this_thread::sleep_for(100ms); // a reset may overtake what was sent
        to.reset();
    });

    EXPECT_EQ(all.post("k").problem(), "504 outcome-unknown");
    EXPECT_EQ(all.post("k").problem(), "409 in-doubt");
}

TEST(Upstream, StallsInTheMiddleOfAnAnswerThatIsPassedOnAndOthersAreServed) {
    rig all{{.adjust = [](gateway_options& options) {
        options.server.threads = 1;
        options.upstream.progress_time = 100ms;
    }}};
    gate_flag over;
    all.behind.now_does([&](const seen_request& request, socket& to) {
        if (request.nth > 1) return static_cast<void>(to.write(response_text(200, "fine")));
        to.write("HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\nfirst bytes ");
        over.wait();
    });

    const answer first = get(all.port());

    EXPECT_EQ(first.status, 200);
    EXPECT_FALSE(first.whole);
    EXPECT_EQ(get(all.port()).body, "fine");
    over.open();
}

TEST(Upstream, AnswersEarlyAndAMalformedRestOfTheRequestGetsNoSecondAnswer) {
    listening_socket early;
    rig all{{.routes = {}, .adjust = [&](gateway_options& options) {
                 options.upstream.url.at.port = early.port();
             }}};
    gate_flag over;
    const std::jthread answering{[&] {
        socket one = early.accept().value();
        (void)one.read_some();
        one.write("HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\nfirst bytes ");
        over.wait();
    }};
    const socket bad = socket::connect(all.port());
    bad.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    std::string got;
    while (got.find("first bytes") == std::string::npos) {
        const auto more = bad.read_some();
        if (!more || more->empty()) break;
        got += *more;
    }
    bad.write("ZZ\r\n");
    got += bad.read_all();
    over.open();

    EXPECT_NE(got.find("first bytes"), std::string::npos) << got;
    EXPECT_EQ(got.find("HTTP/1.1", 1), std::string::npos) << got;
}

TEST(Upstream, UnderRetryTheNextRepeatRunsItAgain) {
    rig all{{.routes = {expiring(lease_expiry::retry)}}};
    all.behind.now_does([](const seen_request& request, socket& to) {
        if (request.nth == 1) return to.reset();
        to.write(response_text(201, "second"));
    });

    EXPECT_EQ(all.post("k").problem(), "504 outcome-unknown");
    answer again;
    EXPECT_TRUE(eventually([&] {
        again = all.post("k");
        return again.status == 201;
    }));
    EXPECT_EQ(again.body, "second");
    EXPECT_EQ(all.behind.requests(), 2);
}

TEST(Upstream, SilenceIsAnUnknownOutcomeAfterTheAnswerTime) {
    rig all{{.routes = {expiring(lease_expiry::hold)},
             .adjust = [](gateway_options& options) { options.upstream.answer_time = 100ms; }}};
    gate_flag over;
    all.behind.now_does([&](const seen_request&, socket&) { over.wait(); });

    EXPECT_EQ(all.post("k").problem(), "504 outcome-unknown");
    over.open();
}

TEST(Upstream, ConnectionsAreKeptForTheNextRequest) {
    rig all{{.adjust = [](gateway_options& options) { options.server.threads = 1; }}};
    for (int i = 0; i < 10; ++i) EXPECT_EQ(all.post("k" + std::to_string(i)).status, 201);

    EXPECT_EQ(all.behind.connections(), 1);
    EXPECT_EQ(all.gateway().counts().connects, 1U);
}

// A server that overlooks the body of a GET takes it for the next request: of another client.
TEST(Upstream, NoRequestFollowsABodyThatMayBeOverlooked) {
    rig all{{.adjust = [](gateway_options& options) { options.server.threads = 1; }}};
    const std::string hidden = "POST /orders HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n";
    for (const std::string method : {"GET", "DELETE", "OPTIONS"}) {
        const int before = all.behind.connections();
        EXPECT_EQ(all.send({.body = "x"}).status, 201);
        EXPECT_EQ(all.send({.body = hidden, .method = method}).status, 201);
        EXPECT_EQ(all.send({.body = "y"}).status, 201);
        EXPECT_EQ(all.behind.connections(), before + (before == 0 ? 2 : 1)) << method;
    }
}

TEST(Upstream, ConnectionsThatEndedWhileIdleAreReplaced) {
    rig all{{.adjust = [](gateway_options& options) { options.server.threads = 1; }}};
    all.behind.now_does([](const seen_request&, socket& to) {
        to.write(response_text(201, "and close")); // without saying so
        to.shutdown();
    });
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(all.post("k" + std::to_string(i)).status, 201);
        std::this_thread::sleep_for(20ms); // for the end to arrive; both orders are fine
    }
    EXPECT_EQ(all.gateway().counts().unanswered, 0U);
}

TEST(Upstream, SafeRequestsAreSentAgainWhereAnOldConnectionEndedUnderThem) {
    rig all{{.adjust = [](gateway_options& options) { options.server.threads = 1; }}};
    all.behind.now_does([](const seen_request& request, socket& to) {
        if (request.nth % 2 == 0) return to.reset();
        to.write(response_text(200, "fine"));
    });
    for (int i = 0; i < 10; ++i) EXPECT_EQ(get(all.port()).body, "fine");
}

TEST(Upstream, ConnectionLimitMakesRequestsWaitTheirTurn) {
    rig all{{.adjust = [](gateway_options& options) {
        options.server.threads = 1;
        options.upstream.connections_max = 2;
    }}};
    std::atomic<int> at_once = 0, most = 0;
    all.behind.now_does([&](const seen_request&, socket& to) {
        most = std::max<int>(most, ++at_once);
        std::this_thread::sleep_for(5ms);
        --at_once;
        to.write(response_text(200, "turn"));
    });
    std::vector<std::unique_ptr<client>> clients;
    for (int i = 0; i < 12; ++i) {
        clients.push_back(std::make_unique<client>(all.port()));
        clients.back()->send(post_text({.key = "k" + std::to_string(i)}));
    }
    for (const auto& one : clients) EXPECT_EQ(one->receive().body, "turn");
    EXPECT_LE(most, 2);
    EXPECT_LE(all.behind.connections(), 2);
}

TEST(Upstream, AnswersOfEveryFramingArriveWhole) {
    const std::vector<std::string> answers = {
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello",
        "HTTP/1.0 200 OK\r\n\r\nhello",
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
        "5\r\n\r\nhello",
        "HTTP/1.1 200\r\nContent-Length: 5\r\n\r\nhello",
    };
    for (const std::string& text : answers) {
        rig all;
        all.behind.now_does([&](const seen_request&, socket& to) {
            to.write(text);
            if (text.find("Content-Length") == text.npos && text.find("chunked") == text.npos) {
                to.shutdown();
            }
        });
        EXPECT_EQ(all.post("k").body, "hello") << text;
        EXPECT_EQ(all.post("k").body, "hello") << text;
        const answer passed = get(all.port());
        EXPECT_EQ(passed.body, "hello") << text;
        EXPECT_TRUE(passed.whole) << text;
        EXPECT_EQ(all.behind.requests(), 2) << text;
    }
}

TEST(Upstream, NonsenseIsNotPassedOn) {
    const std::vector<std::string> nonsense = {
        "NONSENSE\r\n\r\n",
        "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 600 High\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\nContent-Length: 0\n\n\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nBad Name: 1\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: 1\r\n folded\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: a\x01"
        "b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n",
    };
    for (const std::string& text : nonsense) {
        rig all{{.routes = {expiring(lease_expiry::hold)}}};
        all.behind.now_does([&](const seen_request&, socket& to) {
            to.write(text);
            to.shutdown();
        });
        EXPECT_EQ(all.post("k").problem(), "504 outcome-unknown") << text;
        EXPECT_NE(get(all.port()).status, 200) << text;
    }
}

TEST(Upstream, BytesNobodyAskedForEndTheConnection) {
    rig all{{.adjust = [](gateway_options& options) { options.server.threads = 1; }}};
    all.behind.now_does([](const seen_request& request, socket& to) {
        to.write(response_text(200, "own " + std::to_string(request.nth)) +
                 response_text(200, "smuggled"));
    });
    for (int i = 1; i <= 5; ++i) {
        EXPECT_EQ(get(all.port()).body, "own " + std::to_string(i));
    }
    EXPECT_EQ(all.behind.connections(), 5);
}

TEST(Upstream, HeadAndBodilessStatusesPassWithTheirLength) {
    rig all;
    all.behind.now_does([](const seen_request& request, socket& to) {
        if (request.head.method == "HEAD") {
            to.write("HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n");
        } else {
            to.write("HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 7\r\n\r\n");
        }
    });
    client one{all.port()};
    const answer head = one.ask("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n", http1::asked_with::head);
    EXPECT_EQ(head.header("Content-Length"), "1234");
    const answer same = one.ask("GET /x HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(same.status, 304);
    EXPECT_EQ(same.header("ETag"), "\"a\"");
    EXPECT_EQ(one.ask("HEAD /x HTTP/1.1\r\nHost: a\r\n\r\n", http1::asked_with::head).status, 200);
}

TEST(Upstream, AnswersBeforeTheRequestIsWholeArePassedOn) {
    rig all;
    all.behind.on_connection([](socket& to) {
        (void)to.read_some();
        to.write("HTTP/1.1 413 No\r\nContent-Length: 3\r\nConnection: close\r\n\r\nno!");
        to.end_output();
        (void)to.read_all();
    });
    client one{all.port()};
    one.send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nbegin");
    const answer got = one.receive();
    EXPECT_EQ(got.status, 413);
    EXPECT_EQ(got.body, "no!");
    EXPECT_TRUE(one.connection().ends());
}

TEST(Upstream, PathsBeforeTheTargetAndItsOwnHostAreUsed) {
    rig all{{.adjust = [](gateway_options& options) {
        options.upstream.url.path = "/base";
        options.upstream.host = upstream_options::host_seen::own;
    }}};
    (void)all.send({.key = "k", .target = "/orders?x=1"});
    const auto seen = all.behind.seen();
    ASSERT_EQ(seen.size(), 1U);
    EXPECT_EQ(seen[0].head.target, "/base/orders?x=1");
    EXPECT_EQ(*seen[0].head.headers.find("Host"), "127.0.0.1:" + std::to_string(all.behind.port()));
}

// ---- streams

std::size_t resident_bytes() {
    std::ifstream file{"/proc/self/statm"};
    std::size_t pages = 0, resident = 0;
    file >> pages >> resident;
    return resident * 4'096;
}

constexpr std::size_t big = std::size_t{128} << 20U;

// Sanitizers keep what was freed for a while.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t headroom = std::size_t{1} << 30U;
#else
constexpr std::size_t headroom = std::size_t{32} << 20U;
#endif

TEST(Stream, LargeAnswersPassWithBoundedMemory) {
    rig all;
    all.behind.now_does([](const seen_request&, socket& to) {
        to.write("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(big) + "\r\n\r\n");
        const std::string piece(std::size_t{256} << 10U, 'x');
        for (std::size_t sent = 0; sent < big; sent += piece.size()) to.write(piece);
    });
    const std::size_t before = resident_bytes();
    client one{all.port()};
    one.send("GET /big HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(one.receive_head());
    std::size_t got = one.buffered(), most = 0;
    while (got < big) {
        const auto some = one.connection().read_some();
        if (!some || some->empty()) break;
        got += some->size();
        most = std::max(most, resident_bytes());
    }
    EXPECT_EQ(got, big);
    EXPECT_LT(most, before + headroom);
}

TEST(Stream, LargeRequestsPassWithBoundedMemory) {
    rig all;
    std::atomic<std::size_t> got = 0;
    gate_flag done;
    all.behind.on_connection([&](socket& to) {
        while (got < big) {
            const auto some = to.read_some();
            if (!some || some->empty()) break;
            got += some->size();
        }
        to.write(response_text(200, "got it"));
        done.wait();
    });
    const std::size_t before = resident_bytes();
    std::size_t most = 0;
    client one{all.port()};
    one.send("PUT /big HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(big) + "\r\n\r\n");
    const std::string piece(std::size_t{256} << 10U, 'x');
    for (std::size_t sent = 0; sent < big; sent += piece.size()) {
        ASSERT_TRUE(one.send(piece));
        most = std::max(most, resident_bytes());
    }
    EXPECT_EQ(one.receive().body, "got it");
    done.open();
    EXPECT_LT(most, before + headroom);
}

// The body's time is the client's: what the upstream takes is not counted.
TEST(Stream, AnUpstreamMayTakeItsTimeOverABody) {
    rig all{{.adjust = [](gateway_options& options) {
        options.server.times.body = 1500ms;
        options.server.times.body_rate_min = 1'000'000'000; // nothing is earned
    }}};
    const std::string body(std::size_t{16} << 20U, 'x'); // more than the sockets hold
    gate_flag taken;
    all.behind.on_connection([&](socket& to) {
        std::this_thread::sleep_for(1800ms);
        std::size_t came = 0;
        for (auto more = to.read_some(); more && !more->empty(); more = to.read_some()) {
            came += more->size();
            if (came >= body.size()) taken.open();
            if (more->ends_with('.')) break;
        }
        to.write(response_text(200, "got it"));
        (void)to.read_all();
    });
    client one{all.port()};
    one.send("PUT /big HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size() + 1) +
             "\r\n\r\n");

    EXPECT_TRUE(one.send(body));
    EXPECT_TRUE(taken.wait());
    std::this_thread::sleep_for(400ms); // long enough for the clock to be looked at
    EXPECT_EQ(one.ask(".").body, "got it");
    EXPECT_EQ(all.gateway().counts().server.timed_out, 0U);
}

TEST(Stream, AnswersAreSentOnAsTheyCome) {
    rig all;
    gate_flag next;
    all.behind.now_does([&](const seen_request&, socket& to) {
        to.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        next.wait();
        to.write("5\r\nevent\r\n0\r\n\r\n");
    });
    client one{all.port()};
    one.send("GET /events HTTP/1.1\r\nHost: a\r\n\r\n");
    const auto head = one.receive_head(); // before any of the body
    next.open();
    ASSERT_TRUE(head);
    EXPECT_EQ(head->framing.how, http::body_framing::by::chunks);
}

TEST(Stream, ChunkedRequestsAreRechunkedAndTrailersStayBehind) {
    rig all;
    client one{all.port()};
    const answer got = one.ask("PUT /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "3;a=b\r\nabc\r\n0\r\nIdempotency-Key: sneaky\r\nHost: evil\r\n"
                               "Authorization: Bearer x\r\n\r\n");
    EXPECT_EQ(got.status, 201);
    const auto seen = all.behind.seen().at(0);
    EXPECT_EQ(seen.body, "abc");
    EXPECT_FALSE(seen.head.headers.contains("Idempotency-Key"));
    EXPECT_FALSE(seen.head.headers.contains("Authorization"));
    EXPECT_EQ(*seen.head.headers.find("Host"), "a");
}

TEST(Stream, AnAnswerThatIsCutShortIsCutShortForTheClientToo) {
    rig all;
    for (const std::string how : {"Content-Length: 100", "Transfer-Encoding: chunked"}) {
        all.behind.now_does([&](const seen_request&, socket& to) {
            to.write("HTTP/1.1 200 OK\r\n" + how + "\r\n\r\n5\r\nabcde\r\n");
            to.shutdown();
        });
        const answer got = get(all.port());
        EXPECT_FALSE(got.whole) << how;
    }
}

TEST(Stream, AHttp10ClientGetsAChunkedAnswerUpToTheEndOfTheConnection) {
    rig all;
    all.behind.now_does([](const seen_request&, socket& to) {
        to.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n");
    });
    const answer got = client{all.port()}.ask("GET / HTTP/1.0\r\nHost: a\r\n\r\n");
    EXPECT_EQ(got.body, "abcde");
    EXPECT_FALSE(got.headers.contains("Transfer-Encoding"));
}

TEST(Stream, KeysInTrailersAreNoKeys) {
    rig all{{.routes = {{.operation = "ORDER", .need = http::key_need::required}}}};
    const answer got =
        client{all.port()}.ask("POST /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "1\r\na\r\n0\r\nIdempotency-Key: k\r\n\r\n");
    EXPECT_EQ(got.problem(), "400 key-missing");
}

} // namespace
} // namespace semel::edge::upstream_test
