#include <algorithm>
#include <vector>

#include "base/hex.hpp"
#include "semel/fingerprint.hpp"

namespace semel {
namespace {

struct form_field {
    std::string name;
    std::string value;
};

// As browsers and servers decode: '+' is a space, a '%' without two hex digits is itself.
std::string decode(std::string_view text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int high = i + 2 < text.size() ? detail::hex_value(text[i + 1]) : -1;
        const int low = i + 2 < text.size() ? detail::hex_value(text[i + 2]) : -1;
        if (text[i] == '+') {
            plain += ' ';
        } else if (text[i] == '%' && high >= 0 && low >= 0) {
            plain += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            plain += text[i];
        }
    }
    return plain;
}

bool stays(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '*' ||
           c == '-' || c == '.' || c == '_';
}

void append_encoded(std::string& out, std::string_view text) {
    for (const char c : text) {
        if (stays(c)) {
            out += c;
        } else if (c == ' ') {
            out += '+';
        } else {
            append_escape(out, c);
        }
    }
}

std::vector<form_field> parse_fields(std::string_view body) {
    std::vector<form_field> fields;
    while (!body.empty()) {
        const std::size_t end = std::min(body.find('&'), body.size());
        const std::string_view field = body.substr(0, end);
        body.remove_prefix(std::min(end + 1, body.size()));
        if (field.empty()) continue;
        const std::size_t equals = std::min(field.find('='), field.size());
        const std::string_view value = field.substr(std::min(equals + 1, field.size()));
        fields.push_back({.name = decode(field.substr(0, equals)), .value = decode(value)});
    }
    return fields;
}

} // namespace

std::string canonical_form(std::string_view body) {
    std::vector<form_field> fields = parse_fields(body);
    std::stable_sort(fields.begin(), fields.end(),
                     [](const form_field& a, const form_field& b) { return a.name < b.name; });
    std::string out;
    out.reserve(body.size());
    for (const form_field& field : fields) {
        if (!out.empty()) out += '&';
        append_encoded(out, field.name);
        out += '=';
        append_encoded(out, field.value);
    }
    return out;
}

} // namespace semel
