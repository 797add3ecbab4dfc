#include "semel/fingerprint.hpp"

#include <algorithm>

#include "fingerprint/sha256.hpp"

namespace semel {
namespace {

// A rule about the body alone: how much memory there is must not show in a fingerprint.
constexpr std::size_t form_fields_max = 100'000;

// With their NUL bytes: no JSON text and no form starts like this.
constexpr std::string_view not_json_tag{"semel:not-json\0", 15};
constexpr std::string_view no_form_tag{"semel:no-form\0", 14};
constexpr std::string_view parts_tag{"semel:parts\0", 12};

} // namespace

fingerprint fingerprint::raw(std::string_view body, const digest_options& options) {
    return detail::digest(options.secret, {body});
}

fingerprint fingerprint::json(std::string_view body, const json_options& options) {
    const result<std::string> canonical = canonical_json(body, options.canonical);
    if (!canonical) return detail::digest(options.secret, {not_json_tag, body});
    return detail::digest(options.secret, {*canonical});
}

fingerprint fingerprint::form(std::string_view body, const digest_options& options) {
    const auto separators = static_cast<std::size_t>(std::count(body.begin(), body.end(), '&'));
    if (separators >= form_fields_max) return detail::digest(options.secret, {no_form_tag, body});
    return detail::digest(options.secret, {canonical_form(body)});
}

fingerprint_builder::fingerprint_builder(digest_options options) : options_(std::move(options)) {
    constexpr std::size_t usual_bytes = 256;
    parts_.reserve(usual_bytes);
    parts_ = parts_tag;
}

fingerprint_builder& fingerprint_builder::add(std::string_view name, std::string_view value) {
    for (const std::string_view part : {name, value}) {
        parts_.append(std::to_string(part.size())).append(1, ':').append(part);
    }
    return *this;
}

fingerprint_builder& fingerprint_builder::add(std::string_view name, const fingerprint& value) {
    return add(name, value.as_string_view());
}

fingerprint fingerprint_builder::finish() const {
    return detail::digest(options_.secret, {parts_});
}

} // namespace semel
