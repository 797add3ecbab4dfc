#include "semel/http/response.hpp"

#include <array>
#include <string>

#include "http/text.hpp"

namespace semel::http {
namespace {

constexpr int first_final = 200;
constexpr int last_final = 599;

constexpr std::array<std::string_view, 4> profile_names = {"2xx", "ietf", "stripe-v1", "stripe-v2"};
constexpr std::array<std::string_view, 5> disposition_names = {"keep", "reject", "retry", "release",
                                                               "unknown"};

template <class Enum, std::size_t Size>
std::optional<Enum> named(const std::array<std::string_view, Size>& names, std::string_view name) {
    for (std::size_t i = 0; i < Size; ++i) {
        if (names[i] == name) return static_cast<Enum>(i);
    }
    return std::nullopt;
}

disposition by_2xx(int status) {
    if (status < 300) return disposition::keep;
    return status < 500 ? disposition::release : disposition::retry;
}

disposition by_ietf(int status) {
    switch (status) {
    case 401:
    case 403:
    case 407:
    case 408:
    case 425:
    case 429: return disposition::release; // refused at the door
    case 503: return disposition::retry;   // says itself that it did nothing
    case 502:
    case 504: return disposition::unknown; // a gateway further in does not know either
    default: return status < 400 ? disposition::keep : disposition::reject;
    }
}

disposition by_stripe_v1(int status) {
    if (status == 401 || status == 409 || status == 429) return disposition::release;
    return status < 400 ? disposition::keep : disposition::reject;
}

disposition by_stripe_v2(int status) {
    if (status == 401 || status == 429) return disposition::release;
    return status < 400 ? disposition::keep : disposition::retry;
}

std::optional<int> final_status(std::string_view digits) {
    const auto number = digits.size() == 3 ? to_number(digits) : std::nullopt;
    if (!number || *number < first_final || *number > last_final) return std::nullopt;
    return static_cast<int>(*number);
}

} // namespace

std::string_view name(profile which) {
    return profile_names.at(static_cast<std::size_t>(which));
}

std::optional<profile> profile_named(std::string_view name) {
    return named<profile>(profile_names, name);
}

std::string_view name(disposition which) {
    return disposition_names.at(static_cast<std::size_t>(which));
}

std::optional<disposition> disposition_named(std::string_view name) {
    return named<disposition>(disposition_names, name);
}

result<status_rule> parse_status_rule(std::string_view statuses, disposition becomes) {
    const bool is_class = statuses.size() == 3 && statuses.substr(1) == "xx";
    const bool is_range = statuses.size() == 7 && statuses[3] == '-';
    const std::string low = is_class ? std::string{statuses[0]} + "00"
                                     : std::string{is_range ? statuses.substr(0, 3) : statuses};
    const std::string high = is_class   ? std::string{statuses[0]} + "99"
                             : is_range ? std::string{statuses.substr(4)}
                                        : low;
    const std::optional<int> first = final_status(low);
    const std::optional<int> last = final_status(high);
    if (!first || !last || *last < *first) {
        return failure{.code = errc::invalid_argument,
                       .detail = "'" + std::string{statuses} +
                                 "' names no statuses; write 2xx, 404 or 500-503"};
    }
    return status_rule{.first = *first, .last = *last, .becomes = becomes};
}

disposition dispose(profile which, int status, progress so_far) {
    if (so_far == progress::not_begun) return disposition::release;
    if (status < first_final || status > last_final) return disposition::unknown;
    switch (which) {
    case profile::only_2xx: return by_2xx(status);
    case profile::ietf: return by_ietf(status);
    case profile::stripe_v1: return by_stripe_v1(status);
    case profile::stripe_v2: break;
    }
    return by_stripe_v2(status);
}

disposition dispose(const std::vector<status_rule>& rules, profile which, int status,
                    progress so_far) {
    if (so_far == progress::begun) {
        for (const status_rule& rule : rules) {
            if (status >= rule.first && status <= rule.last) return rule.becomes;
        }
    }
    return dispose(which, status, so_far);
}

} // namespace semel::http
