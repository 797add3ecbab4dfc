// The strict layer: what a request head must be before anything else looks at it. Parsers of
// frameworks forgive too much for something that stands between a client and a service: two readers
// of one message that disagree about its end or its address are an attack. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "semel/http/message.hpp"

namespace semel::http {

enum class head_fault : std::uint8_t {
    request_line, // not "method SP target SP HTTP/1.x"
    version,
    method,
    target, // not origin form, "//", a byte outside 0x21–0x7E, '#', '\', a bad escape, "/../"
    line_ending, // a bare CR or LF
    folded,      // a header line that begins with a blank
    header_name,
    header_value, // a control byte
    host,         // none, two, malformed, or not ours
    content_length,
    transfer_encoding,
    repeated,   // two lines of a header that may only come once
    connection, // names a header that must reach the other end
    upgrade,
    expectation,
    too_long, // a limit below
};

struct head_limits {
    std::size_t head_bytes_max = std::size_t{32} << 10U;
    std::size_t target_bytes_max = std::size_t{8} << 10U;
    std::size_t headers_max = 100;
    std::size_t method_bytes_max = 32;
};

struct head_options {
    head_limits limits = {};
    // Hosts (with port, if the client would send one) this server answers for, compared without
    // regard to case. Empty: any well-formed one.
    std::vector<std::string> hosts = {};
    // Names of this server, without port. Where they are given other names with a dot are refused:
    // a page on the Internet could have made such a name point here. Addresses, and names without a
    // dot, are not names that anybody can register. None: any.
    std::optional<std::vector<std::string>> names = {};
    // Headers that Connection may not name, beside the usual ones: the key's and the tenant's.
    std::vector<std::string> vital = {"Idempotency-Key"};
};

// How the body is delimited.
struct body_framing {
    enum class by : std::uint8_t { nothing, length, chunks } how = by::nothing;
    std::uint64_t length = 0;

    friend bool operator==(const body_framing&, const body_framing&) = default;
};

// The connection is closed after the answer: nobody knows where the next request begins.
struct refused_head {
    head_fault fault = head_fault::request_line;
    int status = 400;
    std::string detail = {}; // for the client
};

// The head at the start of `raw`, up to and with its blank line, or why not. What follows is not
// looked at, so trailers can never become headers. Blanks around values are removed.
struct parsed_head {
    request_head head;
    std::size_t size = 0; // bytes of `raw` that were the head
};
struct head_incomplete {};
[[nodiscard]] std::variant<parsed_head, head_incomplete, refused_head>
parse_head(std::string_view raw, const head_limits& limits = {});

// For adapters whose framework has parsed the head already. Whether lines were folded can no longer
// be seen here: scan the raw bytes with find_raw_fault where the framework still has them.
[[nodiscard]] std::variant<body_framing, refused_head> check_head(const request_head& head,
                                                                  const head_options& options = {});

// Folding, bare CR or LF, control bytes and blanks before the colon in the raw bytes of a head.
[[nodiscard]] std::variant<std::monostate, refused_head> find_raw_fault(std::string_view raw);

[[nodiscard]] std::string_view name(head_fault fault);

} // namespace semel::http
