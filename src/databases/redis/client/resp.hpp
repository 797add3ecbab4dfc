// The Redis protocol (RESP2), without I/O: requests into bytes, bytes into values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace semel::redis {

// A reply. Texts are views into the bytes that were parsed.
struct value {
    enum class type : std::uint8_t { nil, status, error, integer, bulk, array };

    type kind = type::nil;
    std::int64_t integer = 0;
    std::string_view text = {}; // status, error, bulk
    std::vector<value> items = {};

    [[nodiscard]] bool is(type one) const { return kind == one; }
};

struct parse_limits {
    std::size_t depth_max = 8;
    std::size_t items_max = std::size_t{1} << 20;
    std::size_t line_bytes_max = std::size_t{64} << 10;
    std::size_t bulk_bytes_max = std::size_t{512} << 20;
};

enum class parse_status : std::uint8_t { complete, incomplete, broken };

struct parsed {
    parse_status status = parse_status::incomplete;
    std::size_t bytes = 0;     // complete: of the reply; incomplete: at least needed in all
    std::string_view why = {}; // broken
};

// The first reply in `input`. `into` is reused: it keeps the memory of its items. When incomplete,
// call again with the same bytes and more, once there are `bytes` of them.
[[nodiscard]] parsed parse(std::string_view input, value& into, const parse_limits& limits = {});

// Appends one request of `arguments` parts; that many part() calls must follow.
void append_request(std::string& to, std::size_t arguments);
void append_part(std::string& to, std::string_view bytes);
void append_part(std::string& to, std::int64_t number);

} // namespace semel::redis
