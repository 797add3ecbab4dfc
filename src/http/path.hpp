// Paths as a server would see them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace semel::http {

// Escapes decoded, then split at slashes (an escaped one counts, since servers behind may decode it
// first), empty segments left out. None if an escape is malformed or hides a NUL.
[[nodiscard]] std::optional<std::vector<std::string>> decoded_segments(std::string_view path);

// The same without what follows a ';' in each segment, as servers of the Java family see them: they
// take "/orders;v=1" for "/orders". None if the path has no ';'.
[[nodiscard]] std::optional<std::vector<std::string>> without_parameters(std::string_view path);

// The segments of a route's pattern, as written.
[[nodiscard]] std::vector<std::string> pattern_segments(std::string_view pattern);

[[nodiscard]] bool fits(const std::vector<std::string>& pattern,
                        const std::vector<std::string>& segments);

} // namespace semel::http
