#include "http/structured_field.hpp"

#include "http/text.hpp"

namespace semel::http {
namespace {

constexpr bool is_lower_alpha(char c) {
    return c >= 'a' && c <= 'z';
}
constexpr bool is_lower_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f');
}
constexpr bool is_printable(char c) {
    return c == ' ' || is_visible(c);
}

// Reads from the front of a text. Every take_… says whether it found what it looks for; after a
// "no" the rest means nothing.
class sf_reader {
public:
    explicit sf_reader(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool at_end() const { return rest_.empty(); }
    [[nodiscard]] char peek() const { return rest_.empty() ? '\0' : rest_.front(); }
    bool take(char c) {
        if (rest_.empty() || rest_.front() != c) return false;
        rest_.remove_prefix(1);
        return true;
    }
    template <class Predicate> std::size_t take_while(Predicate fits) {
        std::size_t count = 0;
        for (; !rest_.empty() && fits(rest_.front()); ++count) rest_.remove_prefix(1);
        return count;
    }
    void skip_spaces() {
        take_while([](char c) { return c == ' '; });
    }

    std::optional<std::string> take_string();
    bool take_parameters();

private:
    bool take_bare_item();
    bool take_number();
    bool take_integer();
    bool take_bytes();
    bool take_display_string();
    bool take_token();
    bool take_parameter_name();

    std::string_view rest_;
};

std::optional<std::string> sf_reader::take_string() {
    if (!take('"')) return std::nullopt;
    std::string text;
    while (!rest_.empty()) {
        char c = rest_.front();
        rest_.remove_prefix(1);
        if (c == '"') return text;
        if (c == '\\') {
            c = peek();
            if (c != '"' && c != '\\') return std::nullopt;
            rest_.remove_prefix(1);
        } else if (!is_printable(c)) {
            return std::nullopt;
        }
        text += c;
    }
    return std::nullopt;
}

bool sf_reader::take_parameters() {
    while (take(';')) {
        skip_spaces();
        if (!take_parameter_name()) return false;
        if (take('=') && !take_bare_item()) return false;
    }
    return true;
}

bool sf_reader::take_parameter_name() {
    if (!is_lower_alpha(peek()) && peek() != '*') return false;
    take_while([](char c) {
        return is_lower_alpha(c) || is_digit(c) || c == '_' || c == '-' || c == '.' || c == '*';
    });
    return true;
}

bool sf_reader::take_bare_item() {
    const char first = peek();
    if (first == '"') return take_string().has_value();
    if (first == '-' || is_digit(first)) return take_number();
    if (first == ':') return take_bytes();
    if (take('?')) return take('0') || take('1');
    if (take('@')) return take_integer();
    if (first == '%') return take_display_string();
    return take_token();
}

bool sf_reader::take_integer() {
    take('-');
    const std::size_t digits = take_while(is_digit);
    return digits >= 1 && digits <= 15;
}

bool sf_reader::take_number() {
    take('-');
    const std::size_t whole = take_while(is_digit);
    if (!take('.')) return whole >= 1 && whole <= 15;
    const std::size_t fraction = take_while(is_digit);
    return whole >= 1 && whole <= 12 && fraction >= 1 && fraction <= 3;
}

bool sf_reader::take_bytes() {
    take(':');
    take_while([](char c) { return is_alpha(c) || is_digit(c) || c == '+' || c == '/'; });
    take_while([](char c) { return c == '='; });
    return take(':');
}

bool sf_reader::take_display_string() {
    if (!take('%') || !take('"')) return false;
    while (!at_end() && peek() != '"') {
        if (take('%')) {
            if (!is_lower_hex(peek())) return false;
            take(peek());
            if (!is_lower_hex(peek())) return false;
        } else if (!is_printable(peek())) {
            return false;
        }
        take(peek());
    }
    return take('"');
}

bool sf_reader::take_token() {
    if (!is_alpha(peek()) && peek() != '*') return false;
    take_while([](char c) { return is_token_char(c) || c == ':' || c == '/'; });
    return true;
}

} // namespace

std::optional<std::string> parse_sf_string(std::string_view field) {
    sf_reader reader{field};
    reader.skip_spaces();
    std::optional<std::string> text = reader.take_string();
    if (!text || !reader.take_parameters()) return std::nullopt;
    reader.skip_spaces();
    if (!reader.at_end()) return std::nullopt;
    return text;
}

std::string spell_sf_string(std::string_view text) {
    std::string field = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') field += '\\';
        field += c;
    }
    return field += '"';
}

} // namespace semel::http
