// How a result becomes bytes and back. Specialise `codec` for a type of your own:
//
//   template <> struct semel::codec<order> {
//       static constexpr std::string_view type = "application/x-order";
//       static std::string encode(const order&);      // may throw: the result becomes a tombstone
//       static order decode(std::string_view bytes);  // throws on bytes it cannot read
//   };
//
// semel/json.hpp brings one for every type that nlohmann-json can convert.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace semel {

template <class T> struct codec;

template <> struct codec<std::string> {
    static constexpr std::string_view type = "text/plain";
    static std::string encode(const std::string& value) { return value; }
    static std::string decode(std::string_view bytes) { return std::string{bytes}; }
};

using bytes = std::vector<std::byte>;

template <> struct codec<bytes> {
    static constexpr std::string_view type = "application/octet-stream";
    static std::string encode(const bytes& value) {
        return {reinterpret_cast<const char*>(value.data()), value.size()};
    }
    static bytes decode(std::string_view from) {
        const auto* first = reinterpret_cast<const std::byte*>(from.data());
        return {first, first + from.size()};
    }
};

template <class T>
concept has_codec = requires(const T& value, std::string_view from) {
    { codec<T>::encode(value) } -> std::convertible_to<std::string>;
    { codec<T>::decode(from) } -> std::convertible_to<T>;
    { codec<T>::type } -> std::convertible_to<std::string_view>;
};

} // namespace semel
