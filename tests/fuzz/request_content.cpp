// What of a request is compared, by each kind of body. The same request has the same fingerprint.
#include "semel/http/route.hpp"

#include <array>
#include <string>

#include "semel/fingerprint.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace semel;
    constexpr std::array<const char*, 5> types = {
        "application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b",
        "multipart/mixed; boundary=\"a b\"", "text/plain"};
    std::string_view text = fuzz::text_of(data, size);
    const std::string type = types[fuzz::choice(text, types.size())];
    const http::request_head head{
        .method = "POST", .target = "/orders", .headers = {{"Content-Type", type}}};
    const fingerprint digest = http::fingerprint_of(head, text, {});
    SEMEL_ASSERT(digest == http::fingerprint_of(head, std::string{text}, {}));
    const std::string form = canonical_form(text);
    SEMEL_ASSERT(canonical_form(form) == form);
    return 0;
}
