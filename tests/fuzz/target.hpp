// One place that reads what a stranger has sent. libFuzzer calls it with bytes of its own; without
// libFuzzer replay.cpp calls it with the files of the corpus.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "semel/base/result.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace semel::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

// Takes the first byte off as a number below `count`.
inline std::size_t choice(std::string_view& from, std::size_t count) {
    if (from.empty()) return 0;
    const auto first = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    return first % count;
}

} // namespace semel::fuzz
