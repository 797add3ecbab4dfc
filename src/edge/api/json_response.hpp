// A response of the JSON APIs: a success or a problem.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "semel/base/result.hpp"
#include "semel/core/record.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"

namespace semel::edge {

using json = nlohmann::json;

struct json_response {
    int status = 200;
    json body = {};
    http::header_list headers = {};
};

[[nodiscard]] json_response success(json body);
[[nodiscard]] json_response refusal(const http::problem& what,
                                    const http::problem_options& options);
// The store failed. `unknown` is the problem of a failure that may have been applied.
[[nodiscard]] json_response refusal(const failure& why, http::problem_kind unknown,
                                    const http::problem_options& options);

[[nodiscard]] http::response to_response(json_response&& what);

// {"text": …} where the bytes are UTF-8, else {"base64": …}.
void put_bytes(json& into, std::string_view bytes);

// "value", "rejection", "tombstone"
[[nodiscard]] std::string_view name_of(result_kind kind);

} // namespace semel::edge
