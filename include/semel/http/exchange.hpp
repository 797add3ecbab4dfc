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
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "semel/detail/work.hpp"
#include "semel/http/key_header.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/route.hpp"
#include "semel/http/tenant.hpp"
#include "semel/outcome.hpp"
#include "semel/request.hpp"

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
    semel::detail::work_end end; // for the engine
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
