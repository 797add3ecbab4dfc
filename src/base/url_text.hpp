// How the parts of a store's or a sink's URL are written. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace semel {

// %XX resolved; a sign that is not followed by two digits stays.
[[nodiscard]] std::string decoded_url_text(std::string_view text);

// A URL as a value inside the URL of a tiered store: & and % escaped.
[[nodiscard]] std::string nested_url(std::string_view url);

} // namespace semel
