// The files that the console is made of, compiled in.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "semel/http/message.hpp"

namespace semel::edge {

struct asset {
    std::string_view path;  // "/" or "/assets/app-1a2b3c4d.js"
    std::string_view type;  // of its content
    std::string_view etag;  // with its quotes
    std::string_view bytes; // as they are
    std::string_view gzip;  // the same, compressed; empty where that saves nothing
};

// Made when the project is built: by npm, or a page that says that it was not there.
[[nodiscard]] std::span<const asset> console_assets();

// What is at this path, exactly; none if nothing is.
[[nodiscard]] std::optional<http::response> page_at(const http::request_head& asked);

// On every answer of the console, its API's too: nothing from elsewhere, nothing inline, in no
// frame, nothing guessed.
void harden(http::response& answer);

} // namespace semel::edge
