#include "ids/base32.hpp"

#include "semel/base/result.hpp"

namespace semel {
namespace {

failure refused(const std::string& why) {
    return failure{.code = errc::invalid_argument, .detail = "not a TypeID: " + why};
}

failure bad_prefix() {
    return failure{.code = errc::invalid_argument,
                   .detail = "a TypeID prefix has at most 63 characters of a-z and '_' and starts "
                             "and ends with a letter"};
}

} // namespace

result<type_id> type_id::parse(std::string_view text) {
    const std::size_t mark = text.rfind('_');
    const bool prefixed = mark != std::string_view::npos;
    const std::string_view prefix = prefixed ? text.substr(0, mark) : std::string_view{};
    if (prefixed && prefix.empty()) return refused("a separator without a prefix");
    if (!is_valid_prefix(prefix)) return bad_prefix();
    const std::string_view suffix = prefixed ? text.substr(mark + 1) : text;
    const auto value = detail::from_base32(suffix, detail::accept::lower_only);
    if (!value) {
        return refused("the part after the prefix has 26 characters of 0-9 and a-z without i, l, o "
                       "and u, the first at most 7");
    }
    return type_id{.prefix = std::string{prefix}, .value = *value};
}

result<type_id> type_id::generate(std::string_view prefix) {
    if (!is_valid_prefix(prefix)) return bad_prefix();
    return type_id{.prefix = std::string{prefix}, .value = new_uuid7()};
}

std::string type_id::to_string() const {
    SEMEL_ASSERT(is_valid_prefix(prefix));
    const std::string suffix = detail::to_base32(value, detail::letters::lower);
    return prefix.empty() ? suffix : prefix + '_' + suffix;
}

} // namespace semel
