// Store URLs: scheme, target, parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "semel/base/result.hpp"

namespace semel::net {

// `scheme:target?name=value&name=value`, with %XX resolved in target and values. Without a colon
// all of it is the target.
struct parsed_url {
    std::string scheme;
    std::string target;
    std::vector<std::pair<std::string, std::string>> parameters;
    // Scheme and target as they were given, for drivers whose library reads URLs by itself.
    std::string base = {};
};

[[nodiscard]] result<parsed_url> parse_url(std::string_view url);

// Takes parameters out of a URL one by one. Those that are left at the end are unknown.
class url_parameters {
public:
    explicit url_parameters(const parsed_url& url) : url_(url), left_(url.parameters) {}

    // A count: digits and a suffix k, m or g for powers of `unit`. Leaves `to` alone if absent.
    template <class Number> void number(std::string_view name, Number& to, std::uint64_t unit) {
        if (const auto value = take(name)) read(name, *value, unit, to);
    }
    void text(std::string_view name, std::string& to) {
        if (auto value = take(name)) to = *std::move(value);
    }

    // The parameters that were not taken so far. Afterwards none is left.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> rest() {
        return std::exchange(left_, {});
    }

    // The first mistake, or a parameter that was not taken.
    [[nodiscard]] result<void> finish() const;

private:
    [[nodiscard]] std::optional<std::string> take(std::string_view name);
    [[nodiscard]] std::optional<std::uint64_t> parse(std::string_view name, std::string_view value,
                                                     std::uint64_t unit);
    template <class Number>
    void read(std::string_view name, std::string_view value, std::uint64_t unit, Number& to) {
        if (const auto count = parse(name, value, unit)) to = static_cast<Number>(*count);
    }

    const parsed_url& url_;
    std::vector<std::pair<std::string, std::string>> left_;
    std::string known_;
    std::optional<failure> wrong_;
};

} // namespace semel::net
