// HTTP messages as plain values: what an adapter fills from its framework and writes back to it.
// No thread-safety of their own. Nothing here has been checked; see check_head() below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace semel::http {

struct header {
    std::string name;
    std::string value; // without the blanks around it

    friend bool operator==(const header&, const header&) = default;
};

// ASCII only.
[[nodiscard]] constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Compares header names, schemes and media types. Inline, because each name is compared with many,
// and most differ in length.
[[nodiscard]] inline bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char a, char b) { return to_lower(a) == to_lower(b); });
}

// Header lines in the order they came. Names are compared without regard to case.
class header_list {
public:
    header_list() = default;
    header_list(std::initializer_list<header> lines) : lines_(lines) {}

    void reserve(std::size_t lines) { lines_.reserve(lines); }
    void add(std::string name, std::string value);
    // Replaces every line of that name by this one, which goes last.
    void set(std::string name, std::string value);
    // Returns how many lines went.
    std::size_t remove(std::string_view name);
    template <class Predicate> std::size_t remove_if(Predicate gone) {
        return std::erase_if(lines_, gone);
    }

    // The first line of that name, or null. Valid until the list changes.
    [[nodiscard]] const std::string* find(std::string_view name) const;
    [[nodiscard]] std::size_t count(std::string_view name) const;
    [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }

    [[nodiscard]] auto begin() const noexcept { return lines_.begin(); }
    [[nodiscard]] auto end() const noexcept { return lines_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
    [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }

    friend bool operator==(const header_list&, const header_list&) = default;

private:
    std::vector<header> lines_;
};

// The members of all lines of a comma-separated header, blanks removed, empty ones left out. Commas
// inside quotes do not separate. The views point into `headers`.
[[nodiscard]] std::vector<std::string_view> list_members(const header_list& headers,
                                                         std::string_view name);

enum class version : std::uint8_t { http_1_0, http_1_1 };

// A request without its body. It has no trailers: an adapter takes this copy before it reads the
// body, so that nothing that comes later counts as a header.
struct request_head {
    std::string method;
    std::string target; // origin form: "/orders?dry=1"
    http::version version = version::http_1_1;
    header_list headers = {};

    // The target before and after its first '?'.
    [[nodiscard]] std::string_view path() const;
    [[nodiscard]] std::string_view query() const;
};

struct request {
    request_head head;
    std::string body = {};
};

struct response {
    int status = 200;
    header_list headers = {};
    std::string body = {};

    friend bool operator==(const response&, const response&) = default;
};

// The 32 hex digits of the trace in `traceparent`, for log lines; empty: there is none, or it is
// malformed. The header itself travels on untouched. Lives as long as the headers.
[[nodiscard]] std::string_view trace_of(const header_list& headers);

// The strict layer: what a request head must be before other code looks at it. Parsers of
// frameworks accept too much for a program between a client and a service: if two readers of one
// message disagree about its end or its address, that is an attack. Pure; any thread.

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
    // Hosts for which this server answers, compared without regard to case. With the port, if
    // clients send one. Empty: any well-formed host.
    std::vector<std::string> hosts = {};
    // Names of this server, without port. If they are set, other names with a dot are refused: a
    // page on the Internet could make such a name point here. Addresses, and names without a dot,
    // pass, because others cannot register them. None: any name.
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

// The connection is closed after the answer: it is not known where the next request begins.
struct refused_head {
    head_fault fault = head_fault::request_line;
    int status = 400;
    std::string detail = {}; // for the client
};

// Parses the head at the start of `raw`, with its blank line. Bytes after the head are not looked
// at, so trailers can never become headers. Blanks around values are removed.
struct parsed_head {
    request_head head;
    std::size_t size = 0; // bytes of `raw` that were the head
};
struct head_incomplete {};
[[nodiscard]] std::variant<parsed_head, head_incomplete, refused_head>
parse_head(std::string_view raw, const head_limits& limits = {});

// For adapters whose framework has parsed the head already. Folded lines cannot be seen here any
// more: if the framework still has the raw bytes, scan them with find_raw_fault.
[[nodiscard]] std::variant<body_framing, refused_head> check_head(const request_head& head,
                                                                  const head_options& options = {});

// Folding, bare CR or LF, control bytes and blanks before the colon in the raw bytes of a head.
[[nodiscard]] std::variant<std::monostate, refused_head> find_raw_fault(std::string_view raw);

[[nodiscard]] std::string_view name(head_fault fault);

} // namespace semel::http
