#include "net/url.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "net/url_text.hpp"

namespace semel::net {

namespace {

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

result<std::string> decoded(std::string_view text) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            made += text[at];
            continue;
        }
        const int high = at + 2 < text.size() ? hex_digit(text[at + 1]) : -1;
        const int low = high < 0 ? -1 : hex_digit(text[at + 2]);
        // A byte 0 would cut the path short wherever it is passed on.
        if (low < 0 || (high == 0 && low == 0)) {
            return refused("'%' in a URL must be followed by two hex digits, not both 0; write "
                           "%25 for the sign itself");
        }
        made += static_cast<char>(high * 16 + low);
        at += 2;
    }
    return made;
}

// A name as it may stand in a message; what is joined with an "@" may be a part of a password.
std::string shown_name(std::string_view name, std::string_view beside) {
    const auto plain = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    const bool may_be = std::all_of(name.begin(), name.end(), plain);
    return may_be && beside.find('@') == std::string_view::npos ? "'" + std::string{name} + "'"
                                                                : "of such a name";
}

result<void> add_parameters(const std::string_view whole, parsed_url& to) {
    std::string_view query = whole;
    while (!query.empty()) {
        const std::size_t end = std::min(query.find('&'), query.size());
        const std::string_view one = query.substr(0, end);
        query.remove_prefix(std::min(end + 1, query.size()));
        const std::size_t equals = one.find('=');
        if (equals == std::string_view::npos || equals == 0 || equals > one.find('@')) {
            return refused("what is behind '?' in a URL is name=value, joined by &; write %3F for "
                           "a '?' in a user name or password");
        }
        const std::string_view name = one.substr(0, equals);
        const auto is_same = [&](const auto& other) { return other.first == name; };
        if (std::any_of(to.parameters.begin(), to.parameters.end(), is_same)) {
            return refused("a parameter " + shown_name(name, whole) + " is given twice in a URL");
        }
        auto value = decoded(one.substr(equals + 1));
        if (!value) return std::move(value).error();
        to.parameters.emplace_back(std::string{name}, *std::move(value));
    }
    return {};
}

std::optional<std::uint64_t> factor_of(std::string_view suffix, std::uint64_t unit) {
    if (suffix.empty()) return 1;
    if (suffix.size() != 1) return std::nullopt;
    switch (suffix.front()) {
    case 'k': return unit;
    case 'm': return unit * unit;
    case 'g': return unit * unit * unit;
    default: return std::nullopt;
    }
}

} // namespace

result<parsed_url> parse_url(std::string_view url) {
    const std::size_t colon = url.find(':');
    if (colon == std::string_view::npos)
        return parsed_url{.scheme = {}, .target = std::string{url}, .parameters = {}};
    parsed_url made{.scheme = std::string{url.substr(0, colon)}, .target = {}, .parameters = {}};
    made.base = url.substr(0, url.find('?'));
    url.remove_prefix(colon + 1);
    const std::size_t question = std::min(url.find('?'), url.size());
    // What stands before an "@" may be a part of a password, in which "?" has to be "%3F". No part
    // of it may come as far as a message about parameters.
    if (url.starts_with("//") && url.find('@', question) != std::string_view::npos) {
        return refused("an '@' behind the '?' of a URL; write %3F for a '?' in a user name or "
                       "password, and %40 for an '@' in a parameter");
    }
    auto target = decoded(url.substr(0, question));
    if (!target) return std::move(target).error();
    made.target = *std::move(target);
    url.remove_prefix(std::min(question + 1, url.size()));
    if (auto added = add_parameters(url, made); !added) return std::move(added).error();
    return made;
}

std::optional<std::string> url_parameters::take(std::string_view name) {
    known_ += (known_.empty() ? "" : ", ") + std::string{name};
    const auto at = std::find_if(left_.begin(), left_.end(),
                                 [&](const auto& one) { return one.first == name; });
    if (at == left_.end()) return std::nullopt;
    std::string value = std::move(at->second);
    left_.erase(at);
    return value;
}

std::optional<std::uint64_t> url_parameters::parse(std::string_view name, std::string_view value,
                                                   std::uint64_t unit) {
    std::uint64_t count = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
    const auto factor = factor_of(value.substr(static_cast<std::size_t>(end - value.data())), unit);
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const bool good = error == std::errc{} && factor && count > 0 && count <= most / *factor;
    if (good) return count * *factor;
    if (!wrong_) {
        wrong_ = refused("parameter " + std::string{name} +
                         " of a URL must be a positive number such as 64m");
    }
    return std::nullopt;
}

result<void> url_parameters::finish() const {
    if (wrong_) return *wrong_;
    if (left_.empty()) return {};
    std::string values;
    for (const auto& [name, value] : left_) values += value;
    return refused("'" + url_.scheme + ":' has no parameter " +
                   shown_name(left_.front().first, values) + "; known: " + known_);
}

} // namespace semel::net
