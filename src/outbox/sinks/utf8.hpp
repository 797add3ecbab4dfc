// Whether bytes are text.
#pragma once

#include <cstddef>
#include <string_view>

namespace semel::outbox {

// No overlong forms, no surrogates, nothing above U+10FFFF.
[[nodiscard]] inline bool is_utf8(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    std::size_t at = 0;
    while (at < text.size()) {
        const unsigned first = byte(at);
        if (first < 0x80) {
            ++at;
            continue;
        }
        const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
        if (first < 0xC2 || first > 0xF4 || text.size() - at < size) return false;
        const unsigned low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        const unsigned high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (byte(at + 1) < low || byte(at + 1) > high) return false;
        for (std::size_t i = 2; i < size; ++i) {
            if ((byte(at + i) & 0xC0U) != 0x80) return false;
        }
        at += size;
    }
    return true;
}

} // namespace semel::outbox
