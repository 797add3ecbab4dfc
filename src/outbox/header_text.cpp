#include "outbox/header_text.hpp"

#include <algorithm>

namespace semel::outbox {

void add_header_line(std::string& to, const event_header& one) {
    to.append(one.name).append(": ").append(one.value).append("\n");
}

void read_header_lines(std::string_view text, std::vector<event_header>& to) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t colon = line.find(": ");
        if (colon == std::string_view::npos) continue;
        to.push_back({.name = std::string{line.substr(0, colon)},
                      .value = std::string{line.substr(colon + 2)}});
    }
}

bool is_header_name(std::string_view name) {
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char one) {
        return one > ' ' && one < 0x7f && one != ':';
    });
}

bool is_header_value(std::string_view value) {
    if (value.empty()) return true;
    if (value.front() == ' ' || value.back() == ' ') return false;
    return std::none_of(value.begin(), value.end(), [](char one) {
        const auto byte = static_cast<unsigned char>(one);
        return byte < 0x20 || byte == 0x7f;
    });
}

} // namespace semel::outbox
