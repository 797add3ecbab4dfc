// Results as JSON: a codec for every type that nlohmann-json can convert both ways.
#pragma once

#include <nlohmann/json.hpp>

#include "semel/engine/verdict.hpp"

namespace semel {

template <class T>
concept json_convertible = !std::is_same_v<T, std::string> && !std::is_same_v<T, bytes> &&
                           requires(const T& value, const nlohmann::json& document) {
    nlohmann::json(value);
    document.get<T>();
};

template <json_convertible T> struct codec<T> {
    static constexpr std::string_view type = "application/json";
    static std::string encode(const T& value) { return nlohmann::json(value).dump(); }
    static T decode(std::string_view from) { return nlohmann::json::parse(from).get<T>(); }
};

} // namespace semel
