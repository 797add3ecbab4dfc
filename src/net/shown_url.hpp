// A URL as it may be shown: on a page, in a log, in an error. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace semel::net {

// The URL of a store, a sink, a source or a webhook without anything that may be a secret. Every
// place that shows a URL shows this.
//
//   redis://:a/b@c@host/0?lanes=2     redis://:***@host/0?lanes=2
//   postgres://u@h/d?password=x       postgres://u@h/d?password=***
//   https://host/hooks/T0/x#key=quoted  https://host/***
//   tiered:?front=URL&truth=URL       the same, with both URLs shown like this
//
// A password reaches to the last `@` before `?`, as the parsers read it, whatever is in it. Values
// of parameters are shown where the parameter is known to be harmless. Of a text that is no URL of
// a known kind only the scheme is left.
[[nodiscard]] std::string shown_url(std::string_view url);

// "redis" of "redis://…": letters, digits and +-. before the colon, or "" if there are none.
[[nodiscard]] std::string_view url_scheme(std::string_view url);

} // namespace semel::net
