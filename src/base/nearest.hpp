// What a mistyped name was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace semel {

// The known name that looks most like `wrong`, or "" if none does.
[[nodiscard]] std::string nearest(std::string_view wrong, const std::vector<std::string>& known);

} // namespace semel
