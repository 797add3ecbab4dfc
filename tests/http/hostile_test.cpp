// Hostile bytes over a socket. Each is answered as the table says, reaches nobody, and leaves other
// clients alone.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <fstream>

#include "http/support/rig.hpp"

namespace semel::edge::hostile_test {
namespace {

using namespace support;
using namespace std::chrono_literals;
using namespace std::string_literals;

struct hostile {
    std::string raw;
    int status; // of the only answer
};

std::string request(const std::string& line, const std::string& lines = "Host: a\r\n") {
    return line + "\r\n" + lines + "\r\n";
}
// With these lines after Host; what follows the head is `rest`.
std::string head(const std::string& lines, const std::string& rest = {}) {
    return "POST /orders HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n" + rest;
}
std::string keyed(const std::string& value) {
    return head("Idempotency-Key: " + value + "\r\nContent-Length: 2\r\n", "{}");
}

// Nothing of any of these may reach the upstream.
void expect_refused(const std::vector<hostile>& all) {
    rig gate{{.routes = {{.operation = "ORDER", .need = http::key_need::required}},
              .adjust = [](gateway_options& options) {
                  options.server.times.linger = 200ms;
                  options.server.bodies.trailer_bytes_max = 1'024;
              }}};
    client neighbour{gate.port()};
    int nth = 0;
    for (const hostile& one : all) {
        client attacker{gate.port()};
        attacker.send(one.raw);
        attacker.connection().end_output();
        const answer got = attacker.receive();
        EXPECT_EQ(got.status, one.status) << one.raw.substr(0, 300);
        if (one.status != 0) {
            EXPECT_EQ(got.header("Content-Type"), "application/problem+json") << one.raw;
            EXPECT_EQ(got.header("Connection"), "close") << one.raw;
        }
        EXPECT_TRUE(attacker.connection().ends());
        EXPECT_EQ(neighbour.ask(post_text({.key = "n" + std::to_string(++nth)})).status, 201);
    }
    EXPECT_EQ(gate.behind.requests(), nth) << "something got through";
}

TEST(Hostile, RequestLines) {
    expect_refused({
        {request("POST  /x HTTP/1.1"), 400},
        {request("POST\t/x\tHTTP/1.1"), 400},
        {request("POST /x  HTTP/1.1"), 400},
        {request("POST /x HTTP/1.1 "), 400},
        {request(" POST /x HTTP/1.1"), 400},
        {"\r\n" + request("POST /x HTTP/1.1"), 400},
        {request("POST /x"), 400},
        {request("POST /x http/1.1"), 400},
        {request("POST /x HTTP/1"), 400},
        {request("POST /x HTTP/1.2"), 505},
        {request("POST /x HTTP/2.0"), 505},
        {request("POST /x HTTP/0.9"), 505},
        {request("POST /x HTTPS/1.1"), 400},
        {request("PO ST /x HTTP/1.1"), 400},
        {request("P@ST /x HTTP/1.1"), 400},
        {request("P\x01ST /x HTTP/1.1"), 400},
        {request(std::string(33, 'P') + " /x HTTP/1.1"), 400},
        {request("CONNECT a:443 HTTP/1.1"), 501},
        {request("TRACE / HTTP/1.1"), 501},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"s, 400},
        {"GET /\r\n\r\n", 400},
        {"\r\n\r\n", 400},
        {"x\r\n\r\n", 400},
        {"\0\0\0\0\r\n\r\n"s, 400},
    });
}

TEST(Hostile, Targets) {
    expect_refused({
        {request("POST http://169.254.169.254/x HTTP/1.1"), 400},
        {request("POST https://a/x HTTP/1.1"), 400},
        {request("POST //evil/x HTTP/1.1"), 400},
        {request("POST @evil/x HTTP/1.1"), 400},
        {request("POST x HTTP/1.1"), 400},
        {request("OPTIONS * HTTP/1.1"), 400},
        {request("POST /\xff HTTP/1.1"), 400},
        {request("POST /\x7f HTTP/1.1"), 400},
        {request("POST /a#b HTTP/1.1"), 400},
        {request("POST /a\\b HTTP/1.1"), 400},
        {request("POST /../etc/passwd HTTP/1.1"), 400},
        {request("POST /a/../b HTTP/1.1"), 400},
        {request("POST /%2e%2e/b HTTP/1.1"), 400},
        {request("POST /./b HTTP/1.1"), 400},
        {request("POST /%zz HTTP/1.1"), 400},
        {request("POST /% HTTP/1.1"), 400},
        {request("POST /" + std::string(9'000, 'x') + " HTTP/1.1"), 414},
    });
}

TEST(Hostile, LineEndsAndFolding) {
    expect_refused({
        {"POST /x HTTP/1.1\nHost: a\n\n", 400},
        {"POST /x HTTP/1.1\r\nHost: a\n\r\n", 400},
        {"POST /x HTTP/1.1\rHost: a\r\r", 400},
        {"POST /x HTTP/1.1\r\nHost: a\r\nX: 1\rY: 2\r\n\r\n", 400},
        {"POST /x HTTP/1.1\r\nHost: a\r\nX: 1\r\r\n\r\n", 400},
        {"POST /x HTTP/1.1\r\nHost: a\r\n\nX: 1\r\n\r\n", 400},
        {head("X: 1\r\n folded\r\n"), 400},
        {head("X: 1\r\n\tfolded\r\n"), 400},
        {head("Transfer-Encoding:\r\n chunked\r\n"), 400},
        {head("Idempotency-Key: a\r\n b\r\nContent-Length: 0\r\n"), 400},
        {"POST /x HTTP/1.1\r\n Host: a\r\n\r\n", 400},
    });
}

TEST(Hostile, Headers) {
    std::string many;
    for (int i = 0; i < 120; ++i) many += "X-" + std::to_string(i) + ": 1\r\n";
    expect_refused({
        {head("X : 1\r\n"), 400},
        {head("X\t: 1\r\n"), 400},
        {head(": 1\r\n"), 400},
        {head("X\r\n"), 400},
        {head("X Y: 1\r\n"), 400},
        {head("X\xc3\xa9: 1\r\n"), 400},
        {head("X(: 1\r\n"), 400},
        {head("X: a\0b\r\n"s), 400},
        {head("X: a\x01\r\n"), 400},
        {head("X: a\x0b\r\n"), 400},
        {head("X: a\x7f\r\n"), 400},
        {head(many), 431},
        {head("X: " + std::string(40'000, 'x') + "\r\n"), 431},
        {head("Content-Type: a/b\r\nContent-Type: c/d\r\n"), 400},
        {head("Authorization: a\r\nAuthorization: b\r\n"), 400},
        {head("Upgrade: websocket\r\nConnection: Upgrade\r\n"), 400},
        {head("Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n"), 400},
        {head("Expect: 200-ok\r\n"), 417},
        {head("Expect: 100-continue\r\nExpect: 100-continue\r\n"), 400},
        {head("Connection: Idempotency-Key\r\nIdempotency-Key: k\r\n"), 400},
        {head("Connection: Content-Length\r\nContent-Length: 3\r\n", "abc"), 400},
        {head("Connection: Host\r\n"), 400},
        {head("Connection: Authorization\r\n"), 400},
    });
}

TEST(Hostile, Hosts) {
    const std::string line = "POST /x HTTP/1.1";
    expect_refused({
        {request(line, ""), 400},
        {request(line, "Host: a\r\nHost: b\r\n"), 400},
        {request(line, "Host: a\r\nHost: a\r\n"), 400},
        {request(line, "Host: a, b\r\n"), 400},
        {request(line, "Host: a b\r\n"), 400},
        {request(line, "Host: a/b\r\n"), 400},
        {request(line, "Host: a@b\r\n"), 400},
        {request(line, "Host: a:99999999\r\n"), 400},
        {request(line, "Host: a:x\r\n"), 400},
        {request(line, "Host: [::1\r\n"), 400},
        {request(line, "Host: \r\n"), 400},
        {request("POST /x HTTP/1.0", ""), 400},
    });
}

TEST(Hostile, Lengths) {
    const std::string smuggled = "abcGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    expect_refused({
        {head("Content-Length: 3\r\nContent-Length: 4\r\n", smuggled), 400},
        {head("Content-Length: 3\r\nContent-Length: 3\r\n", smuggled), 400},
        {head("Content-Length: 3, 3\r\n", smuggled), 400},
        {head("Content-Length: 3, 4\r\n", smuggled), 400},
        {head("Content-Length: +3\r\n", smuggled), 400},
        {head("Content-Length: -1\r\n", smuggled), 400},
        {head("Content-Length: 0x3\r\n", smuggled), 400},
        {head("Content-Length: 03\r\n", smuggled), 400},
        {head("Content-Length: 3.0\r\n", smuggled), 400},
        {head("Content-Length: 3 \t3\r\n", smuggled), 400},
        {head("Content-Length:\r\n", smuggled), 400},
        {head("Content-Length: 18446744073709551616\r\n", smuggled), 400},
        {head("Content-Length: 99999999999999999999999\r\n", smuggled), 400},
        {head("Content-Length: three\r\n", smuggled), 400},
        {head("Idempotency-Key: k\r\nContent-Length: 9000000\r\n"), 413},
        {head("Idempotency-Key: k\r\nContent-Length: 18446744073709551615\r\n"), 413},
    });
}

TEST(Hostile, TransferCodings) {
    const std::string smuggled = "0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    const auto coded = [&](const std::string& lines) { return head(lines, smuggled); };
    expect_refused({
        {coded("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"), 400},
        {coded("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"), 400},
        {coded("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400},
        {coded("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"), 400},
        {coded("Transfer-Encoding: gzip\r\nContent-Length: 5\r\n"), 400},
        {coded("Transfer-Encoding: identity\r\nContent-Length: 5\r\n"), 400},
        {coded("Transfer-Encoding: xchunked\r\nContent-Length: 5\r\n"), 400},
        {coded("Transfer-Encoding: gzip\r\n"), 400},
        {coded("Transfer-Encoding: chunked, identity\r\n"), 400},
        {coded("Transfer-Encoding: gzip, chunked\r\n"), 400},
        {coded("Transfer-Encoding: chunked,\r\n"), 400},
        {coded("Transfer-Encoding: ,chunked\r\n"), 400},
        {coded("Transfer-Encoding: \"chunked\"\r\n"), 400},
        {coded("Transfer-Encoding: chunked;q=1\r\n"), 400},
        {coded("Transfer-Encoding:\x0b"
               "chunked\r\n"),
         400},
        {coded("Transfer-Encoding : chunked\r\n"), 400},
        {"POST /x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + smuggled, 400},
    });
}

// The bodies of these have a key, so they are read before anything is passed on.
TEST(Hostile, Chunks) {
    const auto body = [](const std::string& text) {
        return head("Idempotency-Key: k\r\nTransfer-Encoding: chunked\r\n", text);
    };
    std::string trailers = "0\r\n";
    for (int i = 0; i < 200; ++i) trailers += "X-" + std::to_string(i) + ": 1\r\n";
    std::string extensions;
    for (int i = 0; i < 50; ++i) extensions += "1;" + std::string(200, 'x') + "\r\na\r\n";
    expect_refused({
        {body("zz\r\n"), 400},
        {body("\r\n"), 400},
        {body("+1\r\na\r\n0\r\n\r\n"), 400},
        {body("-1\r\n"), 400},
        {body("0x1\r\na\r\n0\r\n\r\n"), 400},
        {body(" 1\r\na\r\n0\r\n\r\n"), 400},
        {body("1 \r\na\r\n0\r\n\r\n"), 400},
        {body("1\na\n0\n\n"), 400},
        {body("1\ra\r\n"), 400},
        {body("1\r\nab\r\n0\r\n\r\n"), 400},
        {body("1\r\na\n0\r\n\r\n"), 400},
        {body("2\r\na\r\n0\r\n\r\n"), 400},
        {body("10000000000000000\r\n"), 400},
        {body("ffffffffffffffff\r\n"), 400},
        {body("00000000000000001\r\na\r\n"), 400},
        {body("1, 2\r\na\r\n0\r\n\r\n"), 400},
        {body("1;a=\x01\r\na\r\n0\r\n\r\n"), 400},
        {body("1;" + std::string(300, 'x') + "\r\na\r\n0\r\n\r\n"), 400},
        {body(extensions), 400},
        {body("0\r\nno colon\r\n\r\n"), 400},
        {body("0\r\n X: folded\r\n\r\n"), 400},
        {body("0\r\nX: a\x01\r\n\r\n"), 400},
        {body("0\r\nX: 1\n\r\n"), 400},
        {body(trailers), 400},
        {body("800001\r\n" + std::string((std::size_t{8} << 20U) + 1, 'x')), 413},
        {body("5\r\nab"), 0},
        {body("0\r\n"), 0},
    });
}

TEST(Hostile, Keys) {
    rig gate;
    const std::vector<std::pair<std::string, std::string>> refused = {
        {keyed("\"unterminated"), "400 key-malformed"},
        {keyed("\"a\", \"b\""), "400 key-malformed"},
        {keyed("a, b"), "400 key-malformed"},
        {keyed("a b"), "400 key-malformed"},
        {keyed("\"\xc3\xa9\""), "400 key-malformed"},
        {keyed("k\xc3\xa9"), "400 key-malformed"},
        {keyed("\"a\tb\""), "400 key-malformed"},
        {keyed("\"\""), "400 key-malformed"},
        {keyed(""), "400 key-malformed"},
        {keyed("a;b"), "400 key-malformed"},
        {keyed("\"a\\n\""), "400 key-malformed"},
        {keyed("\"a\" b"), "400 key-malformed"},
        {keyed(std::string(256, 'k')), "400 key-too-long"},
        {keyed(std::string(20'000, 'k')), "400 key-too-long"},
        {keyed("a\r\nIdempotency-Key: b"), "400 key-malformed"},
        {keyed("a\r\nIdempotency-Key: a"), "400 key-malformed"},
    };
    for (const auto& [raw, problem] : refused) {
        EXPECT_EQ(client{gate.port()}.ask(raw).problem(), problem) << raw.substr(0, 200);
    }
    EXPECT_EQ(gate.behind.requests(), 0);
    // Harmless to this store and to every other: they are data, never text of a command.
    for (const std::string key : {"\"'; DROP TABLE semel_record; --\"", "\"* :* {x}\"", "\"%s%n\"",
                                  "\"../../etc/passwd\"", "\"a:b\"", "\"a\\\"b\\\\\""}) {
        EXPECT_EQ(client{gate.port()}.ask(keyed(key)).status, 201) << key;
        EXPECT_TRUE(client{gate.port()}.ask(keyed(key)).replayed()) << key;
    }
}

TEST(Hostile, PipelinedBytesBehindARefusedRequestAreNotServed) {
    rig gate;
    client one{gate.port()};
    const answer got = one.ask(head("Content-Length: 3, 4\r\n", "abc") + post_text({.key = "k"}));
    EXPECT_EQ(got.status, 400);
    EXPECT_TRUE(one.connection().ends());
    EXPECT_EQ(gate.behind.requests(), 0);
}

TEST(Hostile, HostsThatAreNotOursAreMisdirected) {
    rig gate{
        {.adjust = [](gateway_options& options) { options.server.heads.hosts = {"shop.test"}; }}};
    EXPECT_EQ(client{gate.port()}.ask(head("Content-Length: 0\r\n")).status, 421);
    EXPECT_EQ(gate.post("k").status, 201);
}

// ---- slow and many

std::size_t open_descriptors_max() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

std::size_t kilobytes_resident() {
    std::ifstream file{"/proc/self/statm"};
    std::size_t pages = 0, resident = 0;
    file >> pages >> resident;
    return resident * 4;
}

TEST(Slowloris, FiveHundredSlowClientsAreBoundedAndOthersUnaffected) {
    ASSERT_GT(open_descriptors_max(), 1'500U);
    rig gate{{.adjust = [](gateway_options& options) {
        options.server.times.head = 2s;
        options.server.times.body = 2s;
        options.server.times.linger = 200ms;
    }}};
    const std::size_t before = kilobytes_resident();
    std::vector<std::unique_ptr<client>> slow;
    const std::string text = post_text({.key = "slow", .body = std::string(1'000, 'x')});
    for (int i = 0; i < 500; ++i) {
        slow.push_back(std::make_unique<client>(gate.port()));
        const auto part = static_cast<std::size_t>(i) % (text.size() - 2);
        slow.back()->send(std::string_view{text}.substr(0, part));
    }
    ASSERT_TRUE(eventually([&] { return gate.gateway().counts().server.open == 500; }));
    EXPECT_LT(kilobytes_resident(), before + 64 * 1'024);

    for (int i = 0; i < 50; ++i) EXPECT_EQ(gate.post("fast" + std::to_string(i)).status, 201);

    // All are let go, though they keep dripping.
    EXPECT_TRUE(eventually([&] {
        for (const auto& one : slow) one->send("x");
        return gate.gateway().counts().server.open == 0;
    }));
    EXPECT_EQ(gate.behind.requests(), 50);
}

TEST(Slowloris, BodiesThatDripBelowTheRateAreLetGo) {
    rig gate{{.adjust = [](gateway_options& options) {
        options.server.times.body = 500ms;
        options.server.times.body_rate_min = 100'000;
        options.server.times.linger = 200ms;
    }}};
    client slow{gate.port()};
    slow.send(head("Idempotency-Key: k\r\nContent-Length: 1000000\r\n"));
    EXPECT_TRUE(eventually([&] {
        slow.send("x"); // never silent for long
        return gate.gateway().counts().server.timed_out == 1;
    }));
    EXPECT_EQ(slow.receive().status, 408);
    EXPECT_EQ(gate.behind.requests(), 0);
}

// Each of them holds a connection to the upstream: a few would lock out everybody else.
TEST(Slowloris, BodiesThatArePassedOnKeepUpTheRateToo) {
    rig gate{{.adjust = [](gateway_options& options) {
        options.server.threads = 1;
        options.server.times.body = 500ms;
        options.server.times.body_rate_min = 100'000;
        options.server.times.linger = 200ms;
        options.upstream.connections_max = 2;
    }}};
    std::vector<client> slow;
    for (int i = 0; i < 2; ++i) {
        slow.emplace_back(gate.port());
        slow.back().send(head("Content-Length: 1000000\r\n") + "x"); // no key: unprotected
    }
    EXPECT_TRUE(eventually([&] {
        for (client& one : slow) one.send("x"); // never silent for long
        return gate.gateway().counts().server.timed_out == 2;
    }));

    EXPECT_EQ(slow.front().receive().status, 408);
    EXPECT_EQ(gate.post("k").status, 201);
}

} // namespace
} // namespace semel::edge::hostile_test
