// The bounds on JSON: what is within them is what a plain parser reads, and no more than they say.
#include "http/bounded_json.hpp"

#include <algorithm>

#include "target.hpp"

namespace {

using nlohmann::json;

struct extent {
    std::size_t depth = 0, values = 1;
};

extent extent_of(const json& value) {
    extent made;
    if (!value.is_structured()) return made;
    for (const json& one : value) {
        const extent inner = extent_of(one);
        made.depth = std::max(made.depth, inner.depth);
        made.values += inner.values;
    }
    ++made.depth;
    return made;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = semel::fuzz::text_of(data, size);
    const semel::http::json_bounds bounds{.depth_max = 10, .values_max = 50};
    const json made = semel::http::parse_bounded(text, bounds);
    if (made.is_discarded()) return 0;
    SEMEL_ASSERT(made == json::parse(text, nullptr, false));
    const extent is = extent_of(made);
    SEMEL_ASSERT(is.depth <= bounds.depth_max && is.values <= bounds.values_max);
    return 0;
}
