// A parsed JSON document in two flat buffers, with numbers already canonical and the members of
// every object sorted. Not thread-safe; meant to be used again for the next document.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/result.hpp"
#include "semel/fingerprint/canonical_json.hpp"

namespace semel::detail {

enum class json_kind : std::uint8_t {
    null_value,
    true_value,
    false_value,
    number,
    string,
    object,
    array
};

// Part of json_tree's text. 32 bits: the input is at most 512 MiB, and a number's canonical text is
// at most five times as long as its source.
struct text_slice {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
};

// A value takes up to 100 bytes beside the text while it is read. The bound is a rule of the
// document alone, since it decides how the document is compared.
inline constexpr std::size_t json_values_max = 250'000;

struct json_node {
    text_slice name = {};          // of a member; unescaped
    text_slice value = {};         // string (unescaped) or number; for containers the children
    std::uint32_t name_end_at = 0; // where the name ended in the source, for messages
    json_kind kind = json_kind::null_value;
};

class json_tree {
public:
    // Replaces what was there. Errors as documented at canonical_json.
    result<void> parse(std::string_view text, const canonical_options& options);

    // Children precede their container, the root is last.
    [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }
    [[nodiscard]] std::size_t root() const noexcept { return nodes_.size() - 1; }
    [[nodiscard]] const json_node& operator[](std::size_t index) const { return nodes_[index]; }

    [[nodiscard]] std::string_view text(text_slice slice) const {
        return std::string_view{text_}.substr(slice.offset, slice.size);
    }
    [[nodiscard]] std::size_t capacity_bytes() const {
        return text_.capacity() + (nodes_.capacity() + pending_.capacity()) * sizeof(json_node);
    }

private:
    friend class json_tree_builder;

    std::string text_;
    std::vector<json_node> nodes_;
    std::vector<json_node> pending_; // children of containers that are still open
    std::vector<json_kind> open_;    // kinds of the containers that are still open
};

// Order by UTF-16 code units, computed on UTF-8.
[[nodiscard]] bool utf16_less(std::string_view left, std::string_view right);

} // namespace semel::detail
