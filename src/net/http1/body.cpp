#include "net/http1/body.hpp"

#include <algorithm>

#include "http/text.hpp"

namespace semel::http1 {
namespace {

constexpr std::string_view line_end = "\r\n";

int hex_value(char c) {
    if (http::is_digit(c)) return c - '0';
    const char low = http::to_lower(c);
    return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

std::size_t blanks_at(std::string_view text) {
    return std::min(text.find_first_not_of(" \t"), text.size());
}

std::size_t token_at(std::string_view text) {
    std::size_t size = 0;
    while (size < text.size() && http::is_token_char(text[size])) ++size;
    return size;
}

// With its quotes; 0: there is no whole one.
std::size_t quoted_at(std::string_view text) {
    if (!text.starts_with('"')) return 0;
    for (std::size_t at = 1; at < text.size(); ++at) {
        if (text[at] == '"') return at + 1;
        if (text[at] == '\\') ++at;
    }
    return 0;
}

// RFC 9112, 7.1.1: names, each with a value or without. Another reader may see the end of the line
// elsewhere in anything else.
bool are_extensions(std::string_view text) {
    if (!http::is_value(text)) return false;
    while (!text.empty()) {
        if (text.front() != ';') return false;
        text.remove_prefix(1 + blanks_at(text.substr(1)));
        const std::size_t name = token_at(text);
        if (name == 0) return false;
        text.remove_prefix(name);
        std::size_t next = blanks_at(text);
        if (text.substr(next, 1) == "=") {
            text.remove_prefix(next + 1 + blanks_at(text.substr(next + 1)));
            const std::size_t value = text.starts_with('"') ? quoted_at(text) : token_at(text);
            if (value == 0) return false;
            text.remove_prefix(value);
            next = blanks_at(text);
        }
        text.remove_prefix(next);
        if (next > 0 && text.empty()) return false;
    }
    return true;
}

// Sixteen digits hold any 64-bit number; more are there to confuse.
constexpr std::size_t size_digits_max = 16;
constexpr std::uint64_t chunk_bytes_max = std::uint64_t{1} << 62U;

} // namespace

body_reader::body_reader(const http::body_framing& how, const body_limits& limits) : left_(limits) {
    using by = http::body_framing::by;
    if (how.how == by::chunks) stage_ = stage::chunk_size;
    if (how.how == by::length && how.length > 0) {
        stage_ = stage::length;
        remaining_ = how.length;
    }
}

body_reader body_reader::until_close() {
    body_reader made;
    made.stage_ = stage::until_close;
    return made;
}

void body_reader::fail(std::string_view why) {
    stage_ = stage::failed;
    fault_ = why;
}

// Lines behind the content are taken with it: the end of a chunked body need not be asked for
// again.
body_reader::piece body_reader::take(std::string_view raw) {
    piece got;
    got.used = take_lines(raw);
    got.content = take_content(raw.substr(got.used));
    got.used += got.content.size();
    if (!got.content.empty()) got.used += take_lines(raw.substr(got.used));
    return got;
}

std::size_t body_reader::take_lines(std::string_view raw) {
    std::size_t all = 0;
    while (true) {
        std::size_t used = 0;
        switch (stage_) {
        case stage::chunk_size: used = take_size(raw.substr(all)); break;
        case stage::chunk_end: used = take_chunk_end(raw.substr(all)); break;
        case stage::trailers: used = take_trailer(raw.substr(all)); break;
        default: return all;
        }
        all += used;
        if (used == 0) return all;
    }
}

std::string_view body_reader::take_content(std::string_view raw) {
    if (stage_ == stage::until_close) return raw;
    if (stage_ != stage::length && stage_ != stage::chunk_data) return {};
    const std::string_view content = raw.substr(0, std::min<std::uint64_t>(remaining_, raw.size()));
    remaining_ -= content.size();
    if (remaining_ == 0) stage_ = stage_ == stage::length ? stage::done : stage::chunk_end;
    return content;
}

std::string_view body_reader::whole_line(std::string_view raw, std::size_t bytes_max) {
    const std::size_t lf = raw.substr(0, bytes_max + line_end.size()).find('\n');
    if (lf == std::string_view::npos) {
        if (raw.size() >= bytes_max + line_end.size()) fail("a line in the body is too long");
        return {};
    }
    const std::string_view line = raw.substr(0, lf + 1);
    if (line.size() < 2 || line[line.size() - 2] != '\r') {
        fail("a line in the body ends with a lone LF");
        return {};
    }
    return line;
}

std::size_t body_reader::take_size(std::string_view raw) {
    const std::string_view whole = whole_line(raw, left_.chunk_line_bytes_max);
    if (whole.empty()) return 0;
    const std::string_view line = whole.substr(0, whole.size() - line_end.size());
    std::uint64_t size = 0;
    std::size_t digits = 0;
    for (; digits < line.size() && hex_value(line[digits]) >= 0; ++digits) {
        if (digits == size_digits_max) break;
        size = (size << 4U) + static_cast<std::uint64_t>(hex_value(line[digits]));
    }
    const std::string_view extension = line.substr(digits);
    const bool fine = digits > 0 && size <= chunk_bytes_max && are_extensions(extension);
    if (!fine || extension.size() > left_.extension_bytes_max) {
        fail(fine ? "there are too many chunk extensions" : "a chunk's size is malformed");
        return 0;
    }
    left_.extension_bytes_max -= extension.size();
    remaining_ = size;
    stage_ = size == 0 ? stage::trailers : stage::chunk_data;
    return whole.size();
}

std::size_t body_reader::take_chunk_end(std::string_view raw) {
    if (raw.size() < line_end.size()) {
        if (!raw.empty() && raw.front() != '\r') fail("a chunk is longer than it says");
        return 0;
    }
    if (!raw.starts_with(line_end)) {
        fail("a chunk is longer than it says");
        return 0;
    }
    stage_ = stage::chunk_size;
    return line_end.size();
}

std::size_t body_reader::take_trailer(std::string_view raw) {
    const std::string_view whole = whole_line(raw, left_.trailer_bytes_max);
    if (whole.empty()) return 0;
    const std::string_view line = whole.substr(0, whole.size() - line_end.size());
    if (line.empty()) {
        stage_ = stage::done;
        return whole.size();
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !http::is_token(line.substr(0, colon)) ||
        !http::is_value(line.substr(colon + 1))) {
        fail("a trailer line is malformed");
        return 0;
    }
    left_.trailer_bytes_max -= std::min(left_.trailer_bytes_max, whole.size());
    return whole.size();
}

void body_reader::on_close() {
    if (stage_ == stage::until_close) stage_ = stage::done;
    if (!done() && !failed()) fail("the connection ended before the body");
}

} // namespace semel::http1
