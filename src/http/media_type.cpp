#include "http/media_type.hpp"

#include "http/text.hpp"

namespace semel::http {
namespace {

std::string unquoted(std::string_view text) {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::string{text};
    text = text.substr(1, text.size() - 2);
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        plain += text[i];
    }
    return plain;
}

} // namespace

const std::string* parameterised::find(std::string_view name) const {
    for (const auto& [known, held] : parameters) {
        if (known == name) return &held;
    }
    return nullptr;
}

parameterised parse_parameterised(std::string_view text) {
    parameterised parsed;
    parsed.value = trimmed(take_until_unquoted(text, ';'));
    while (!text.empty()) {
        std::string_view value = trimmed(take_until_unquoted(text, ';'));
        if (value.empty()) continue;
        const std::string_view name = trimmed(take_until_unquoted(value, '='));
        parsed.parameters.emplace_back(lowered(name), unquoted(trimmed(value)));
    }
    return parsed;
}

body_kind kind_of(std::string_view essence) {
    if (essence == "application/json" || essence.ends_with("+json")) return body_kind::json;
    if (essence == "application/x-www-form-urlencoded") return body_kind::form;
    if (essence.starts_with("multipart/")) return body_kind::multipart;
    return body_kind::bytes;
}

} // namespace semel::http
