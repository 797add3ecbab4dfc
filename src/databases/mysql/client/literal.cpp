#include "databases/mysql/client/literal.hpp"

#include <charconv>

#include "semel/base/result.hpp"

namespace semel::mysql {

namespace {

void put_big_endian(std::string& to, std::uint64_t value) {
    for (int shift = 56; shift >= 0; shift -= 8) to += static_cast<char>(value >> shift);
}

std::uint64_t get_big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char one : bytes) value = value << 8 | static_cast<unsigned char>(one);
    return value;
}

} // namespace

void add_quoted(std::string& to, std::string_view bytes) {
    to += '\'';
    while (true) {
        const std::size_t at = bytes.find_first_of(std::string_view{"'\\\0", 3});
        to += bytes.substr(0, at);
        if (at == std::string_view::npos) break;
        to += '\\';
        to += bytes[at] == '\0' ? '0' : bytes[at];
        bytes.remove_prefix(at + 1);
    }
    to += '\'';
}

void add_hex(std::string& to, std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    to += "x'";
    for (const char one : bytes) {
        const auto byte = static_cast<unsigned char>(one);
        to += digits[byte >> 4];
        to += digits[byte & 15];
    }
    to += '\'';
}

void add_number(std::string& to, std::int64_t value) {
    char text[24];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    to.append(text, end);
}

std::string number_text(std::int64_t value) {
    std::string made;
    add_number(made, value);
    return made;
}

std::string owner_bytes(const owner_id& owner) {
    std::string made;
    made.reserve(16);
    put_big_endian(made, owner.high);
    put_big_endian(made, owner.low);
    return made;
}

owner_id read_owner(std::string_view bytes) {
    SEMEL_ASSERT(bytes.size() == 16);
    return {.high = get_big_endian(bytes.substr(0, 8)), .low = get_big_endian(bytes.substr(8))};
}

// ---- row_buffer ---------------------------------------------------------------------------------

row_buffer& row_buffer::add_row() {
    rows_.push_back({.text = text_.size(), .cells = ends_.size()});
    return *this;
}

// Before a value that is not the first of its row.
void row_buffer::separate() {
    if (ends_.size() > rows_.back().cells) text_ += ',';
}

row_buffer& row_buffer::add(std::int64_t value) {
    separate();
    add_number(text_, value);
    ends_.push_back(text_.size());
    return *this;
}

row_buffer& row_buffer::add(std::string_view bytes) {
    separate();
    if (how_ == quoting::hex) {
        add_hex(text_, bytes);
    } else {
        add_quoted(text_, bytes);
    }
    ends_.push_back(text_.size());
    return *this;
}

row_buffer& row_buffer::add(const std::optional<fingerprint>& content) {
    return content ? add(content->as_string_view()) : add_sql("NULL");
}

row_buffer& row_buffer::add_sql(std::string_view expression) {
    separate();
    text_ += expression;
    ends_.push_back(text_.size());
    return *this;
}

void row_buffer::clear() {
    text_.clear();
    rows_.clear();
    ends_.clear();
}

std::string_view row_buffer::row(std::size_t at) const {
    const std::size_t begin = rows_[at].text;
    const std::size_t end = at + 1 < rows_.size() ? rows_[at + 1].text : text_.size();
    return std::string_view{text_}.substr(begin, end - begin);
}

std::string_view row_buffer::cell(std::size_t row, std::size_t column) const {
    const std::size_t at = rows_[row].cells + column;
    const std::size_t begin = column == 0 ? rows_[row].text : ends_[at - 1] + 1;
    return std::string_view{text_}.substr(begin, ends_[at] - begin);
}

} // namespace semel::mysql
