// The Idempotency-Key header (draft-ietf-httpapi-idempotency-key-header-07): a Structured Field
// String (RFC 9651), or, unless the form is strict, a bare value. `k` and `"k"` are the same key.
// Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "semel/engine/execution.hpp"
#include "semel/http/message.hpp"

namespace semel::http {

enum class key_form : std::uint8_t {
    lenient, // a String, or a bare value of visible ASCII without " \ , ;
    strict,  // a String only
};

struct key_options {
    // Any of these names the key. Two lines, whatever their names, are one too many.
    std::vector<std::string> headers = {"Idempotency-Key"};
    key_form form = key_form::lenient;
    // Counted in the key itself, without quotes and escapes. Short keys, made up by hand, may be
    // the same by accident. If your service publishes a format, ask for 16 or more.
    std::size_t bytes_min = 1;
    std::size_t bytes_max = 255;
};

enum class key_fault : std::uint8_t { malformed, repeated, empty, too_short, too_long };

struct no_key {};

struct sent_key {
    std::string key;    // unescaped; parameters are not part of it
    std::string header; // the name it came under, as sent
    std::string text;   // the value as sent
};

struct refused_key {
    key_fault fault = key_fault::malformed;
    std::string detail = {}; // for the client; never holds bytes of the value
};

using key_reading = std::variant<no_key, sent_key, refused_key>;

// A bare value with a comma is refused since a proxy may have joined two lines; one with a
// semicolon, since its tail would be a parameter under the one reading and part of the key under
// the other. Both can be sent in quotes.
[[nodiscard]] key_reading read_key(const header_list& headers, const key_options& options = {});

// How a key is spelt for the next hop: bare if every reader accepts that, otherwise as a String. A
// key with bytes outside printable ASCII has no spelling: it is replaced by its digest.
[[nodiscard]] std::string spell_key(std::string_view key, key_form form);

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
