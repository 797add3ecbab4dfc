#include "databases/redis/client/resp.hpp"

#include <charconv>
#include <optional>

namespace semel::redis {

namespace {

constexpr std::string_view line_end = "\r\n";

class parser {
public:
    parser(std::string_view input, const parse_limits& limits) : input_(input), limits_(limits) {}

    parsed run(value& into) {
        if (!read(into, 0)) return stopped_;
        return {.status = parse_status::complete, .bytes = at_, .why = {}};
    }

private:
    // All of these: false if it cannot go on; `stopped_` says why.
    bool read(value& into, std::size_t depth) {
        std::string_view line;
        if (!read_line(line)) return false;
        into.text = {};
        into.items.clear();
        const char sign = line.front();
        line.remove_prefix(1);
        switch (sign) {
        case '+': return read_text(value::type::status, line, into);
        case '-': return read_text(value::type::error, line, into);
        case ':': return read_integer(line, into);
        case '$': return read_bulk(line, into);
        case '*': return read_array(line, into, depth);
        default: return broken("a reply of unknown type");
        }
    }

    static bool read_text(value::type kind, std::string_view line, value& into) {
        into.kind = kind;
        into.text = line;
        return true;
    }

    bool read_integer(std::string_view line, value& into) {
        const auto number = number_in(line);
        if (!number) return broken("an integer that is none");
        into.kind = value::type::integer;
        into.integer = *number;
        return true;
    }

    bool read_bulk(std::string_view line, value& into) {
        const auto length = number_in(line);
        if (!length || *length < -1) return broken("a length that is none");
        into.kind = *length < 0 ? value::type::nil : value::type::bulk;
        if (*length < 0) return true;
        const auto bytes = static_cast<std::size_t>(*length);
        if (bytes > limits_.bulk_bytes_max) return broken("a string over the limit");
        if (input_.size() - at_ < bytes + line_end.size()) {
            return incomplete(at_ + bytes + line_end.size());
        }
        into.text = input_.substr(at_, bytes);
        at_ += bytes;
        if (input_.substr(at_, line_end.size()) != line_end) {
            return broken("a string without its end");
        }
        at_ += line_end.size();
        return true;
    }

    bool read_array(std::string_view line, value& into, std::size_t depth) {
        const auto length = number_in(line);
        if (!length || *length < -1) return broken("a length that is none");
        into.kind = *length < 0 ? value::type::nil : value::type::array;
        if (*length <= 0) return true;
        const auto count = static_cast<std::size_t>(*length);
        if (count > limits_.items_max) return broken("an array over the limit");
        if (depth + 1 >= limits_.depth_max) return broken("arrays too deep in one another");
        // Not resized at once: what a length announces has to arrive before memory is spent on it.
        for (std::size_t i = 0; i < count; ++i) {
            if (!read(into.items.emplace_back(), depth + 1)) return false;
        }
        return true;
    }

    bool read_line(std::string_view& line) {
        const std::string_view left = input_.substr(at_);
        const std::size_t end = left.substr(0, limits_.line_bytes_max).find(line_end);
        if (end == std::string_view::npos) {
            if (left.size() >= limits_.line_bytes_max) return broken("a line over the limit");
            return incomplete(input_.size() + 1);
        }
        if (end == 0) return broken("an empty line");
        line = left.substr(0, end);
        at_ += end + line_end.size();
        return true;
    }

    static std::optional<std::int64_t> number_in(std::string_view line) {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
        if (error != std::errc{} || end != line.data() + line.size()) return std::nullopt;
        return number;
    }

    bool incomplete(std::size_t bytes) {
        stopped_ = {.status = parse_status::incomplete, .bytes = bytes, .why = {}};
        return false;
    }

    bool broken(std::string_view why) {
        stopped_ = {.status = parse_status::broken, .bytes = at_, .why = why};
        return false;
    }

    const std::string_view input_;
    const parse_limits& limits_;
    std::size_t at_ = 0;
    parsed stopped_ = {};
};

void append_head(std::string& to, char sign, std::size_t number) {
    char digits[24];
    digits[0] = sign;
    char* end = std::to_chars(digits + 1, digits + sizeof digits - 2, number).ptr;
    *end++ = '\r';
    *end++ = '\n';
    to.append(digits, static_cast<std::size_t>(end - digits));
}

} // namespace

parsed parse(std::string_view input, value& into, const parse_limits& limits) {
    return parser{input, limits}.run(into);
}

void append_request(std::string& to, std::size_t arguments) {
    append_head(to, '*', arguments);
}

void append_part(std::string& to, std::string_view bytes) {
    append_head(to, '$', bytes.size());
    to += bytes;
    to += line_end;
}

void append_part(std::string& to, std::int64_t number) {
    char digits[24];
    const char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
    append_part(to, std::string_view{digits, static_cast<std::size_t>(end - digits)});
}

} // namespace semel::redis
