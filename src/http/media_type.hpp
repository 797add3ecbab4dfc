// Content-Type and other values with parameters. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace semel::http {

// `text/plain; charset="utf-8"` → value "text/plain" and the parameters. Names of parameters are in
// lower case, quotes are removed from what they hold; the value itself is as it was, trimmed.
struct parameterised {
    std::string value;
    std::vector<std::pair<std::string, std::string>> parameters;

    [[nodiscard]] const std::string* find(std::string_view name) const;
};

[[nodiscard]] parameterised parse_parameterised(std::string_view text);

enum class body_kind { bytes, json, form, multipart };
[[nodiscard]] body_kind kind_of(std::string_view essence); // in lower case

} // namespace semel::http
