#include "net/url_text.hpp"

namespace semel::net {

int hex_digit(char one) {
    if (is_digit(one)) return one - '0';
    if (one >= 'a' && one <= 'f') return one - 'a' + 10;
    if (one >= 'A' && one <= 'F') return one - 'A' + 10;
    return -1;
}

std::string decoded_url_text(std::string_view text) {
    std::string made;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool whole = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                           hex_digit(text[i + 2]) >= 0;
        made += whole ? static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]))
                      : text[i];
        if (whole) i += 2;
    }
    return made;
}

std::string nested_url(std::string_view url) {
    std::string made;
    for (const char one : url) {
        if (one == '&') {
            made += "%26";
        } else if (one == '%') {
            made += "%25";
        } else {
            made += one;
        }
    }
    return made;
}

} // namespace semel::net
