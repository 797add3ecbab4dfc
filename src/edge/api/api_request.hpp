// One request to a JSON API: its parts, and what both APIs refuse in the same way.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "edge/api/json_response.hpp"
#include "edge/api/query.hpp"
#include "edge/server/handler.hpp"
#include "edge/server/security_event.hpp"
#include "semel/core/metrics.hpp"
#include "semel/fingerprint.hpp"
#include "semel/http/tenant.hpp"

namespace semel::edge {

// A token that is known, and what it may do.
struct api_caller {
    http::grant gives = {};
    fingerprint token;

    // As `semel token list` has it: never the token itself.
    [[nodiscard]] std::string token_id() const { return token.hex().substr(0, 12); }
};

// The sender of a request, as security_watch gets to see it.
struct api_sender {
    std::string_view at; // which API
    const security_watch& watch;
    const http::request_head& head;
    std::string_view peer;

    // `who` is null if the caller is not known: the token may be a mistyped one.
    void note(security_event::kind what, const api_caller* who) const;
};

class api_request {
public:
    // What belongs to the API; it outlives the request.
    struct surroundings {
        const http::problem_options& problems;
        counter* refused = nullptr; // counts refusals; null: nothing does
    };

protected:
    api_request(const surroundings& around, served_request request, reply answer)
        : around_(around), request_(std::move(request)), answer_(std::move(answer)) {}

    [[nodiscard]] const http::request_head& head() const { return request_.what.head; }
    [[nodiscard]] const std::string& peer() const { return request_.peer; }
    [[nodiscard]] std::size_t body_bytes() const { return request_.what.body.size(); }
    [[nodiscard]] reply take_answer() { return std::move(answer_); }

    // Checks. If the request does not pass, it is refused, and the result is false or none.
    [[nodiscard]] bool method_is(std::string_view needed);
    enum class body_type : std::uint8_t { json, json_or_untyped };
    [[nodiscard]] std::optional<json> read_body(body_type needed);
    [[nodiscard]] std::optional<parameters>
    read_query(std::initializer_list<std::string_view> known, query_style style);

    void send(http::response what) { answer_(std::move(what)); }
    void send(json_response what) { answer_(to_response(std::move(what))); }
    void send_success(json body) { send(success(std::move(body))); }

    void refuse(json_response why);
    void refuse(const http::problem& why) { refuse(refusal(why, around_.problems)); }
    void refuse_malformed(std::string why);

private:
    surroundings around_;
    served_request request_;
    reply answer_;
};

} // namespace semel::edge
