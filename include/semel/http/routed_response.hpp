// A handler's response under the engine's typed calls. For adapters such as httplib.hpp and
// beast.hpp; not for direct use.
#pragma once

#include <exception>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "semel/codec.hpp"
#include "semel/detail/work.hpp"
#include "semel/http/message.hpp"
#include "semel/http/route.hpp"
#include "semel/http/stored_response.hpp"
#include "semel/verdict.hpp"

namespace semel::http::detail {

// A handler's answer, and its route, which decides which headers are kept.
struct routed_response {
    response got;
    const route* how = nullptr;
};

// The verdict of settle() on a handler's response, for the engine. Rethrows what settle() caught.
inline verdict<routed_response> as_verdict(semel::detail::work_end&& end, routed_response&& made) {
    if (auto* kept = std::get_if<semel::detail::answered_end>(&end)) {
        if (kept->result.kind == result_kind::rejection) return reject(std::move(made));
        return accept(std::move(made));
    }
    if (auto* later = std::get_if<retry_later_verdict>(&end)) return std::move(*later);
    if (auto* threw = std::get_if<semel::detail::threw_end>(&end)) {
        std::rethrow_exception(threw->thrown);
    }
    return unknown();
}

} // namespace semel::http::detail

namespace semel {

template <> struct codec<http::detail::routed_response> {
    static constexpr std::string_view type = codec<http::response>::type;
    static std::string encode(const http::detail::routed_response& value) {
        return http::encode(value.got, value.how->replay, std::numeric_limits<std::size_t>::max())
            .body;
    }
    static http::detail::routed_response decode(std::string_view bytes) {
        return {.got = codec<http::response>::decode(bytes)};
    }
};

} // namespace semel
