#include "http/bounded_json.hpp"

namespace semel::http {

// A parser agrees with this about what is inside a string up to the first mistake, and it does not
// go on behind that.
bool is_within(const json_bounds& bounds, std::string_view text) {
    std::size_t depth = 0;
    std::size_t values = 1;
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (in_string) {
            if (c == '\\') ++at;
            in_string = c != '"';
            continue;
        }
        switch (c) {
        case '"': in_string = true; break;
        case '[':
        case '{':
            if (++depth > bounds.depth_max) return false;
            [[fallthrough]]; // each holds one value more than commas
        case ',':
            if (++values > bounds.values_max) return false;
            break;
        case ']':
        case '}':
            if (depth > 0) --depth;
            break;
        default: break;
        }
    }
    return true;
}

// Without a callback: nlohmann's parser with one looks through all values of a container whenever
// one of them ends, which takes the square of their number.
nlohmann::json parse_bounded(std::string_view text, const json_bounds& bounds) {
    if (!is_within(bounds, text)) return nlohmann::json(nlohmann::json::value_t::discarded);
    return nlohmann::json::parse(text, nullptr, false);
}

} // namespace semel::http
