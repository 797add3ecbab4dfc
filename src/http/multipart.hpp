// Multipart bodies independent of their boundary. Pure.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "semel/fingerprint.hpp"
#include "semel/http/message.hpp"

namespace semel::http {

struct body_part {
    header_list headers;
    std::string_view body; // into the text it was parsed from
};

struct multipart_body {
    std::string_view preamble; // before the first boundary and after the last: both are rarely sent
    std::string_view epilogue;
    std::vector<body_part> parts;
};

// RFC 2046. None if the boundary is not 1 to 70 bytes, never appears, is not closed, or a part has
// a malformed header: readers would then differ about what it says.
[[nodiscard]] std::optional<multipart_body> parse_multipart(std::string_view body,
                                                            std::string_view boundary);

// Parts in order, each with its headers sorted by name; multipart in multipart likewise, four deep.
// None if the body cannot be parsed.
[[nodiscard]] std::optional<fingerprint> multipart_fingerprint(std::string_view body,
                                                               std::string_view boundary,
                                                               const digest_options& options);

} // namespace semel::http
