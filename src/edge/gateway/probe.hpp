// Asks the upstream about a request whose outcome is not known.
//
//   GET <path>?key=…&operation=…&tenant=…
//
// The upstream answers 200 with JSON, one of
//   {"outcome": "committed", "status": 201, "headers": {"Location": "/orders/7"}, "body": "…"}
//   {"outcome": "not_executed"}
//   {"outcome": "unknown"}
// where "json" in place of "body" is any JSON value. Anything else counts as unknown: a plain 404
// may come from a proxy or a wrong path, and must not make the work run twice.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "edge/gateway/gateway_state.hpp"
#include "semel/base/function.hpp"
#include "semel/http.hpp"

namespace semel::edge {

struct probe_says {
    struct committed {
        http::response answer;
    };
    struct not_executed {};
    struct unknown {};
};
using probe_verdict =
    std::variant<probe_says::unknown, probe_says::not_executed, probe_says::committed>;

// Pure.
[[nodiscard]] probe_verdict read_probe(const http::response& answer);
[[nodiscard]] std::string probe_target(std::string_view path, const semel::request& about);

// Asks, and writes a verdict into the record if it still is the attempt with this fence. `then` is
// called on the worker, whatever came of it.
void probe_upstream(std::shared_ptr<gateway_state> gateway, std::shared_ptr<worker> home,
                    const http::protected_call& about, std::uint64_t fence,
                    unique_function<void()> then);

} // namespace semel::edge
