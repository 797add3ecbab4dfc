// What an upstream says of a request in doubt.
#include "edge/gateway/probe.hpp"
#include "target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace semel::edge;
    const auto said =
        read_probe({.status = 200, .body = std::string{semel::fuzz::text_of(data, size)}});
    const auto* const yes = std::get_if<probe_says::committed>(&said);
    if (yes != nullptr) SEMEL_ASSERT(yes->answer.status >= 200 && yes->answer.status <= 599);
    return 0;
}
