#include "fingerprint/json_selection.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace semel {
namespace {

using detail::json_kind;
using detail::json_node;
using detail::json_tree;
using detail::utf16_less;

result<std::string> unescape_token(std::string_view token, const std::string& pointer) {
    std::string plain;
    for (std::size_t i = 0; i < token.size(); ++i) {
        if (token[i] != '~') {
            plain += token[i];
        } else if (i + 1 < token.size() && (token[i + 1] == '0' || token[i + 1] == '1')) {
            plain += token[++i] == '0' ? '~' : '/';
        } else {
            return failure{.code = errc::invalid_argument,
                           .detail = "JSON pointer '" + pointer + "': '~' needs a 0 or 1 after it"};
        }
    }
    return plain;
}

result<json_selection::path> parse_pointer(const std::string& pointer) {
    json_selection::path tokens;
    if (!pointer.empty() && pointer.front() != '/') {
        return failure{.code = errc::invalid_argument,
                       .detail = "JSON pointer '" + pointer + "' must start with '/'"};
    }
    std::string_view rest = pointer;
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::size_t end = std::min(rest.find('/'), rest.size());
        auto token = unescape_token(rest.substr(0, end), pointer);
        if (!token) return token.error();
        tokens.push_back(*std::move(token));
        rest.remove_prefix(end);
    }
    return tokens;
}

result<std::vector<json_selection::path>> parse_all(const std::vector<std::string>& pointers) {
    std::vector<json_selection::path> paths;
    for (const std::string& pointer : pointers) {
        auto path = parse_pointer(pointer);
        if (!path) return path.error();
        paths.push_back(*std::move(path));
    }
    return paths;
}

std::optional<std::size_t> find_member(const json_tree& tree, const json_node& object,
                                       std::string_view name) {
    std::size_t low = object.value.offset;
    std::size_t high = low + object.value.size;
    while (low < high) {
        const std::size_t middle = low + (high - low) / 2;
        const std::string_view found = tree.text(tree[middle].name);
        if (found == name) return middle;
        (utf16_less(found, name) ? low : high) = utf16_less(found, name) ? middle + 1 : middle;
    }
    return std::nullopt;
}

std::optional<std::size_t> find_element(const json_node& array, std::string_view token) {
    if (token.size() > 1 && token.front() == '0') return std::nullopt; // RFC 6901: no leading zeros
    std::uint32_t index = 0;
    const auto read = std::from_chars(token.data(), token.data() + token.size(), index);
    if (read.ec != std::errc{} || read.ptr != token.data() + token.size()) return std::nullopt;
    if (index >= array.value.size) return std::nullopt;
    return std::size_t{array.value.offset} + index;
}

// The nodes from the root to the one the path names, or nothing if the document has none.
std::vector<std::size_t> resolve(const json_tree& tree, const json_selection::path& path) {
    std::vector<std::size_t> trail{tree.root()};
    for (const std::string& token : path) {
        const json_node& node = tree[trail.back()];
        std::optional<std::size_t> child;
        if (node.kind == json_kind::object) child = find_member(tree, node, token);
        if (node.kind == json_kind::array) child = find_element(node, token);
        if (!child) return {};
        trail.push_back(*child);
    }
    return trail;
}

} // namespace

result<json_selection> json_selection::parse(const json_pointers& pointers) {
    auto select = parse_all(pointers.select);
    if (!select) return select.error();
    auto ignore = parse_all(pointers.ignore);
    if (!ignore) return ignore.error();
    json_selection selection;
    selection.select_ = *std::move(select);
    selection.ignore_ = *std::move(ignore);
    return selection;
}

namespace detail {

json_marks::json_marks(const json_tree& tree, const json_selection& selection) {
    if (selection.keeps_everything()) return;
    marks_.resize(tree.size());
    if (selection.select().empty()) marks_[tree.root()] |= whole;
    for (const auto& path : selection.select()) {
        const std::vector<std::size_t> trail = resolve(tree, path);
        for (const std::size_t node : trail) marks_[node] |= on_path;
        if (!trail.empty()) marks_[trail.back()] |= whole;
    }
    for (const auto& path : selection.ignore()) {
        const std::vector<std::size_t> trail = resolve(tree, path);
        if (!trail.empty()) marks_[trail.back()] |= removed;
    }
}

} // namespace detail
} // namespace semel
