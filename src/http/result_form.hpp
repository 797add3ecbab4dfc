// A result that an operator enters for a record, checked as clients of the operation will read it.
// Shared by the console and the tool. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "semel/core/policy.hpp"
#include "semel/core/record.hpp"

namespace semel::http {

// What answers the clients of an operation.
enum class result_form : std::uint8_t {
    unknown,  // no configuration names the operation: what is given counts
    plain,    // bytes and their type: the center's
    response, // HTTP responses: the gateway's
};

// The result of the work, as a person enters it.
struct result_draft {
    std::optional<int> status = {};             // given: an HTTP response
    result_kind kind = result_kind::value;      // plain only
    std::string body = {}, type = {}, ref = {}; // `type`: of the content
};

struct draft_fault {
    std::string_view about; // "status", "type", "body", "ref", or "result" for all of it
    std::string why;        // "must be …", "is …"
};

// Sealed. A fault: clients could not read it, or it is beyond a limit.
[[nodiscard]] std::variant<stored_result, draft_fault>
to_result(const result_draft& from, result_form wanted, const limits& most);

} // namespace semel::http
