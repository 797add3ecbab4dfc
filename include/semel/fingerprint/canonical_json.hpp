// Canonical JSON: one text for all spellings of one document.
//
// RFC 8785 (JCS) with one difference that is on by default: a number that JCS would round although
// it is 2^53 or larger keeps its exact decimal digits. In plain JCS 9007199254740993 and
// 9007199254740992 become the same text, so two different amounts would look like one request.
// Wherever JCS loses nothing the output *is* RFC 8785.
//
// All functions here are pure and may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/result.hpp"

namespace semel {

// What happens to a number that is not exactly the shortest decimal text of an IEEE double.
enum class number_profile : std::uint8_t {
    exact_large, // kept exactly from 2^53 on, rounded as in RFC 8785 below that
    exact,       // kept exactly, always: 0.1 and 0.1000000000000000055 differ
    rfc8785,     // rounded, always: interoperable, and blind to the digits that rounding loses
};

// RFC 6901 pointers such as "/customer/id" or "/items/0"; "" is the whole document.
struct json_pointers {
    std::vector<std::string> select = {}; // empty: everything is kept
    std::vector<std::string> ignore = {};
};

// Which parts of a document count. First every selected value is kept, with the containers that
// lead to it; then every ignored value is removed. A pointer to a value that the document does not
// have selects or removes nothing. If nothing is left, the root stays as {} or [], or as null if it
// was neither.
class json_selection {
public:
    using path = std::vector<std::string>; // unescaped reference tokens

    json_selection() = default; // everything counts

    // invalid_argument names the pointer: no leading '/', or '~' not followed by 0 or 1.
    static result<json_selection> parse(const json_pointers& pointers);

    [[nodiscard]] bool keeps_everything() const noexcept {
        return select_.empty() && ignore_.empty();
    }
    [[nodiscard]] const std::vector<path>& select() const noexcept { return select_; }
    [[nodiscard]] const std::vector<path>& ignore() const noexcept { return ignore_; }

private:
    std::vector<path> select_;
    std::vector<path> ignore_;
};

struct canonical_options {
    json_selection selection = {};
    number_profile numbers = number_profile::exact_large;
    std::size_t depth_max = 512;                        // open containers
    std::size_t text_bytes_max = std::size_t{8} << 20U; // never more than 512 MiB
};

// The canonical form of `text`, which must be one I-JSON document in UTF-8.
// invalid_argument: not JSON, bad UTF-8, a lone surrogate, a byte order mark, trailing data, a name
// twice in one object (compared after unescaping), or a number beyond the range of a double.
// limit_exceeded: deeper or longer than the options allow. The detail gives the byte offset.
result<std::string> canonical_json(std::string_view text, const canonical_options& options = {});

} // namespace semel
