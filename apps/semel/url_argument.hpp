// URLs on the command line. Others on the machine may read it, so a URL with a password is better
// named than written.
#pragma once

#include <string>

namespace semel::app {

// What goes behind the meaning of such an option.
inline constexpr auto or_reference = "; or env:NAME or file:/path, where the URL is read from";

// The URL, or the one in the variable or file that it names. Throws usage_error.
[[nodiscard]] std::string given_url(const std::string& option, const std::string& written);
// The same of a sink, of which file: is a kind.
[[nodiscard]] std::string given_sink(const std::string& option, const std::string& written);

} // namespace semel::app
