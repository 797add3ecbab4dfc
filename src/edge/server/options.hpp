// How a server listens and what it puts up with. Plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "edge/server/byte_budget.hpp"
#include "net/address.hpp"
#include "net/http1/body.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"
#include "semel/log.hpp"

namespace semel::edge {

struct tls_server_options {
    std::string certificate_file = {}; // PEM, with the chain
    std::string key_file = {};         // PEM
    // Who signs the certificates of clients. Empty: none is asked for. A client that shows one is
    // trusted, as if its address were.
    std::string client_ca_file = {};
    enum class client_certificate : std::uint8_t {
        optional,
        required
    } client = client_certificate::optional;
};

// Every wait has an end.
struct server_times {
    duration head = std::chrono::seconds{10}; // from its first byte, or from connecting, to its end
    duration idle = std::chrono::seconds{60}; // between two requests
    // A body may stop for this long, and keeps up body_rate_min after it. Time that its receiver
    // takes over a part of it does not count.
    duration body = std::chrono::seconds{30};
    std::size_t body_rate_min = 1'024; // bytes per second
    // For the whole of a body that is held until it is complete.
    duration body_max = std::chrono::minutes{5};
    // The same for a client that reads.
    duration write = std::chrono::seconds{30};
    std::size_t write_rate_min = std::size_t{16} << 10U;
    duration linger = std::chrono::seconds{2}; // for a refused client to stop sending
};

struct server_options {
    net::host_port listen = {.host = "127.0.0.1", .port = 0}; // port 0: any free one
    unsigned threads = 0;                                     // 0: one per core
    std::size_t connections_max = 10'000;                     // above: closed at once, and counted
    // Above, with one thread: instead of the new connection the one is closed that has waited
    // longest for its client. For listeners that must be reached in need.
    enum class full : std::uint8_t { refuses, replaces } when_full = full::refuses;
    // Of one address that is not trusted, where IPv6 addresses with the same first 64 bits are one;
    // zero: no bound of its own. A quarter of all: the others have room, and a proxy that is not
    // among the trusted ones can still stand for many clients.
    std::size_t connections_per_address_max = 2'500;
    std::vector<net::network> trusted = {}; // peers whose headers are believed
    std::optional<tls_server_options> tls = {};
    http::head_options heads = {};
    http1::body_limits bodies = {};
    std::size_t body_bytes_max = std::size_t{8} << 20U; // of requests that handlers get whole
    // Bodies that are held, of all connections together. Above: the slowest body of the address
    // that holds the most gets a 503, and is counted; the new one does if there is none.
    std::size_t buffered_bytes_max = default_buffered_bytes_max;
    std::shared_ptr<byte_budget> buffered = {}; // to share one with other servers; none: its own
    server_times times = {};
    http::problem_options problems = {};
    std::shared_ptr<logger> log = {}; // none: spdlog to stderr
};

// invalid_argument names the option.
[[nodiscard]] result<void> check(const server_options& options);

// Since the start, except `open`.
struct server_counts {
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0; // over connections_max, or those of their address
    std::uint64_t open = 0;    // now
    std::uint64_t requests = 0;
    std::uint64_t malformed = 0;  // heads and bodies
    std::uint64_t timed_out = 0;  // too slow in sending or reading
    std::uint64_t overloaded = 0; // no room for their body
    std::uint64_t buffered = 0;   // bytes of bodies, now
};

enum class drained : std::uint8_t { all, cut_off };

} // namespace semel::edge
