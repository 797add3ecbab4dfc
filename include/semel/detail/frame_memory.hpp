// Memory for the frames of coroutines. Not for direct use.
#pragma once

#include <cstddef>

namespace semel::detail {

// Each thread keeps some freed frames for later ones: a transaction takes a dozen frames, most of
// them larger than the blocks that malloc keeps at hand. Throws std::bad_alloc.
[[nodiscard]] void* take_frame(std::size_t bytes);
void give_frame(void* at, std::size_t bytes) noexcept;

} // namespace semel::detail
