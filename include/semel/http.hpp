// One request and its answer, without a framework:
//
//   auto what = http::decide(gate, head, body, peer);
//   pass_through  → to the handler or upstream, untouched
//   refusal       → send it
//   protected_call → engine.start(call.what, work, done), where the work ends with
//                    settle(call, upstream's result).end, and done sends answer_for(call, …)
//
// No byte of a response leaves before `done`: until then its record is not durable. Pure; any
// thread.
#pragma once

#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "semel/engine/detail/work.hpp"
#include "semel/engine/request.hpp"
#include "semel/engine/verdict.hpp"
#include "semel/http/key_header.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/response.hpp"
#include "semel/http/route.hpp"
#include "semel/http/tenant.hpp"

namespace semel::http {

struct pass_through {};

struct refusal {
    response answer;
};

struct protected_call {
    gate within;                      // keeps the route
    const route* how = nullptr;       // never null
    semel::request what = {};         // for the engine
    std::optional<sent_key> key = {}; // none: derived
    std::string principal = {};       // what the record's key ends with; empty: shared
};

using decision = std::variant<pass_through, refusal, protected_call>;

// By the head alone, before the body is read: a request that passes through may then be streamed. A
// protected call is not complete until add_body.
[[nodiscard]] decision admit(const gate& by, const request_head& head, peer_trust peer);

// The whole body has arrived: sets the fingerprint. A body over the route's limit is refused.
[[nodiscard]] std::optional<refusal> add_body(protected_call& call, const request_head& head,
                                              std::string_view body);

// Both at once. No store has been asked yet.
[[nodiscard]] decision decide(const gate& by, const request_head& head, std::string_view body,
                              peer_trust peer = peer_trust::untrusted);

// ---- the work

// The result of passing the request on.
struct full_answer {
    response got;
    progress so_far = progress::begun;
};
struct nothing_sent { // no byte of the request left: it cannot have been executed
    std::string why = {};
    duration retry_after = {};
    // The execution's. The first leaves no trace: the key is free, and nothing counts towards
    // attempts_max. After others, which may have run, the record stays; 0: not known.
    std::uint32_t attempt = 0;
};
struct no_answer { // some bytes left and no full answer came: it may have been executed
    std::string why = {};
};
using upstream_result = std::variant<full_answer, nothing_sent, no_answer>;

// Thrown in place of a response that must not be kept, so that the engine releases the record.
// Handlers under the engine's typed calls throw it with their response.
class response_released : public std::exception {
public:
    explicit response_released(response own = {}) : own_(std::move(own)) {}
    [[nodiscard]] const char* what() const noexcept override { return "the response is not kept"; }
    [[nodiscard]] const response& own() const noexcept { return own_; }

private:
    response own_;
};

struct settled {
    work_end end; // for the engine
    response own; // for this caller, if its attempt stands; without hop-by-hop headers
};

[[nodiscard]] settled settle(const protected_call& call, upstream_result&& with);

// ---- the answer

// `own` is what settle() returned, if this call ran the work. It is sent only if the outcome is
// that attempt's own: a caller that was fenced off gets the winner's answer.
[[nodiscard]] response answer_for(const protected_call& call, const raw_outcome& outcome,
                                  std::optional<response> own = {});

// True if the store cannot be asked or written, and the route says to go on without it. Ask this
// only if the work was not called: in a transaction the database may be lost after the work ran,
// too.
[[nodiscard]] bool may_pass(const protected_call& call, const raw_outcome& outcome);

// The headers for the upstream: without hop-by-hop ones and Content-Length (the gateway frames the
// message itself), with the key as the route says. `call` is null for requests that pass through.
[[nodiscard]] header_list upstream_headers(const request_head& head, const protected_call* call);

// `Prefer: wait=N` (RFC 7240), or none. If it comes twice, the first counts. A value that is not a
// number is ignored.
[[nodiscard]] std::optional<duration> preferred_wait(const header_list& headers);

} // namespace semel::http

namespace semel::http::detail {

// A handler's response under the engine's typed calls. For adapters such as http/httplib.hpp and
// http/beast.hpp; not for direct use.

// A handler's answer, and its route, which decides which headers are kept.
struct routed_response {
    response got;
    const route* how = nullptr;
};

// The verdict of settle() on a handler's response, for the engine. Rethrows what settle() caught.
inline verdict<routed_response> as_verdict(work_end&& end, routed_response&& made) {
    if (auto* kept = std::get_if<answered_end>(&end)) {
        if (kept->result.kind == result_kind::rejection) return reject(std::move(made));
        return accept(std::move(made));
    }
    if (auto* later = std::get_if<retry_later_verdict>(&end)) return std::move(*later);
    if (auto* threw = std::get_if<threw_end>(&end)) {
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
