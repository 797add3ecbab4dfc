#include "edge/api/api_request.hpp"

#include <utility>

#include "http/bounded_json.hpp"
#include "http/media_type.hpp"
#include "http/text.hpp"

namespace semel::edge {

using http::problem_kind;

void api_sender::note(security_event::kind what, const api_caller* who) const {
    if (!watch) return;
    watch({.what = what,
           .at = at,
           .peer = peer,
           .path = head.path(),
           .tenant = who != nullptr ? who->gives.tenant : std::string{},
           .token = who != nullptr ? who->token_id() : std::string{}});
}

bool api_request::method_is(std::string_view needed) {
    if (head().method == needed) return true;
    json_response made = refusal({.kind = problem_kind::request_malformed,
                                  .status = 405,
                                  .detail = "this path takes " + std::string{needed} + " only"},
                                 around_.problems);
    made.headers.add("Allow", std::string{needed});
    refuse(std::move(made));
    return false;
}

std::optional<json> api_request::read_body(body_type needed) {
    const std::string* const type = head().headers.find("Content-Type");
    const bool fits = type == nullptr
                          ? needed == body_type::json_or_untyped
                          : http::kind_of(http::lowered(http::parse_parameterised(*type).value)) ==
                                http::body_kind::json;
    if (!fits) {
        refuse({.kind = problem_kind::request_malformed,
                .status = 415,
                .detail = "the body must be application/json"});
        return std::nullopt;
    }
    json body = http::parse_bounded(request_.what.body);
    if (!body.is_discarded()) return body;
    refuse_malformed("the body is not JSON, nested too deeply, or holds too many values");
    return std::nullopt;
}

std::optional<parameters> api_request::read_query(std::initializer_list<std::string_view> known,
                                                  query_style style) {
    auto read = read_parameters(head().query(), known, style);
    if (auto* all = std::get_if<parameters>(&read)) return std::move(*all);
    refuse_malformed(std::get<std::string>(std::move(read)));
    return std::nullopt;
}

void api_request::refuse(json_response why) {
    if (around_.refused != nullptr) around_.refused->add();
    send(std::move(why));
}

void api_request::refuse_malformed(std::string why) {
    refuse({.kind = problem_kind::request_malformed, .detail = std::move(why)});
}

} // namespace semel::edge
