// The headers that a call to the next service carries, so that it takes effect once there, too,
// with any HTTP client:
//
//   engine.execute<std::string>(request, [&](semel::execution& run) {
//       httplib::Headers headers;
//       semel::http::add_to(headers, semel::http::next_hop_headers(run, "payment", incoming));
//       return payments.Post("/charges", headers, body, "application/json")->body;
//   });
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "semel/execution.hpp"
#include "semel/http/key_header.hpp"
#include "semel/http/message.hpp"

namespace semel::http {

struct next_hop_options {
    std::string header = "Idempotency-Key";
    key_form form = key_form::lenient; // strict: always in quotes
};

// The key of one step of the work done under `key`, the same on every attempt and every repeat, and
// the trace context (traceparent, tracestate) of the request that led here, if it had one.
[[nodiscard]] header_list next_hop_headers(std::string_view key, std::string_view step,
                                           const header_list& incoming = {},
                                           const next_hop_options& options = {});
[[nodiscard]] header_list next_hop_headers(const execution& run, std::string_view step,
                                           const header_list& incoming = {},
                                           const next_hop_options& options = {});

// Adds headers to those of a client library: cpp-httplib's multimap, or a type with set(name,
// value) such as Beast's fields. Replaces names that are there already.
template <class Headers> void add_to(Headers& to, const header_list& from) {
    for (const header& line : from) {
        if constexpr (requires { to.set(line.name, line.value); }) {
            to.set(line.name, line.value);
        } else {
            to.erase(line.name);
            to.emplace(line.name, line.value);
        }
    }
}

} // namespace semel::http
