// The canonical form of JSON: is JSON of the same content, and its own canonical form.
#include "semel/fingerprint/canonical_json.hpp"

#include <nlohmann/json.hpp>

#include "semel/fingerprint.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace semel;
    const std::string_view text = fuzz::text_of(data, size);
    const canonical_options small{.depth_max = 50};
    const auto form = canonical_json(text, small);
    if (!form) return 0;
    const auto again = canonical_json(*form, small);
    SEMEL_ASSERT(again && *again == *form);
    SEMEL_ASSERT(nlohmann::json::accept(*form));
    SEMEL_ASSERT(fingerprint::json(text) == fingerprint::json(*form));
    return 0;
}
