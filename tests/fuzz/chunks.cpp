// A chunked body: what it holds must not depend on where its bytes are cut.
#include <algorithm>
#include <string>

#include "net/http1/body.hpp"
#include "target.hpp"

namespace {

using namespace semel;

struct outcome {
    std::string content;
    bool done = false;
    std::size_t used = 0;
};

outcome read(std::string_view raw, std::size_t step) {
    http1::body_reader reader{{.how = http::body_framing::by::chunks}};
    outcome got;
    std::size_t shown = 0;
    while (!reader.done() && !reader.failed()) {
        const auto piece = reader.take(raw.substr(got.used, shown - got.used));
        got.content.append(piece.content);
        got.used += piece.used;
        if (piece.used > 0) continue;
        if (shown == raw.size()) break;
        shown = std::min(raw.size(), shown + step);
    }
    got.done = reader.done();
    return got;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view raw = fuzz::text_of(data, size);
    const std::size_t step = 1 + fuzz::choice(raw, 7);
    const outcome whole = read(raw, raw.size() + 1);
    const outcome pieces = read(raw, step);
    SEMEL_ASSERT(whole.done == pieces.done);
    if (!whole.done) return 0;
    SEMEL_ASSERT(whole.content == pieces.content && whole.used == pieces.used);
    return 0;
}
