// What a client of the center is told: an outcome or a problem, alone or as an item of a batch.
#pragma once

#include <nlohmann/json.hpp>

#include "semel/base/result.hpp"
#include "semel/core/command.hpp"
#include "semel/core/search.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"

namespace semel::edge {

using json = nlohmann::json;

struct told {
    int status = 200;
    json body = {};
    http::header_list headers = {};
};

[[nodiscard]] told outcome(json body);
[[nodiscard]] told trouble(const http::problem& what, const http::problem_options& options);

// What the store said.
[[nodiscard]] told tell(semel::reply&& got, const http::problem_options& options);
// A completion that came after another one of the same attempt, with another result.
[[nodiscard]] told tell_already_stored(const record& it, const http::problem_options& options);
// It said nothing that is certain. `unknown` is what to call a failure that may have been applied.
[[nodiscard]] told tell(const failure& why, http::problem_kind unknown,
                        const http::problem_options& options);

// What a search has found.
[[nodiscard]] told tell(const result<record_page>& got, const http::problem_options& options);

[[nodiscard]] http::response to_response(told&& what);
[[nodiscard]] json to_item(told&& what);

// {"text": …} where the bytes are UTF-8, else {"base64": …}.
void put_bytes(json& into, std::string_view bytes);

} // namespace semel::edge
