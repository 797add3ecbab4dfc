// The Lua scripts of scripts/, each with the SHA-1 the server knows it by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace semel::redis {

enum class script : std::uint8_t { begin, finish, renew, swap, front_put, front_advance };

struct script_text {
    std::string_view name;
    std::string_view sha1; // hex
    std::string_view text;
};

// In the order of `script`.
[[nodiscard]] std::span<const script_text> scripts();

[[nodiscard]] inline const script_text& text_of(script one) {
    return scripts()[static_cast<std::size_t>(one)];
}

} // namespace semel::redis
