// The fingerprint of an HTTP request: method, host, path, query, media type and body. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "semel/canonical_json.hpp"
#include "semel/fingerprint.hpp"
#include "semel/http/message.hpp"

namespace semel::http {

struct content_options {
    json_selection json = {}; // which parts of a JSON body count
    number_profile numbers = number_profile::exact_large;
    // Headers that count beside the media type, such as "Stripe-Account". All lines, in order.
    std::vector<std::string> headers = {};
    // Another host is another request, unless several names lead to one service.
    enum class host_counts : std::uint8_t { yes, no } host = host_counts::yes;
    std::string secret = {}; // as in digest_options
};

// The body counts as its Content-Type says:
// - JSON (application/json, anything +json): canonical form, so order and blanks do not matter; a
//   body that is not valid I-JSON counts as its bytes;
// - form data: decoded and sorted;
// - multipart: its parts in order, each with its headers, independent of the boundary; one that is
//   malformed counts as its bytes;
// - anything else, or anything under a Content-Encoding: its bytes.
[[nodiscard]] fingerprint fingerprint_of(const request_head& head, std::string_view body,
                                         const content_options& options = {});

} // namespace semel::http
