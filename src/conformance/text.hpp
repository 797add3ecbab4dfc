// Commands, answers and records as text, for readers of a failed test.
#pragma once

#include <optional>
#include <string>

#include "semel/core/command.hpp"
#include "semel/core/record_machine.hpp"

namespace semel::conformance {

[[nodiscard]] std::string text(const record_id& id);
[[nodiscard]] std::string text(const record& it);
[[nodiscard]] std::string text(const std::optional<record>& it);
[[nodiscard]] std::string text(const command& what);
[[nodiscard]] std::string text(const answer& what);
[[nodiscard]] std::string text(const audit_entry& what);
[[nodiscard]] std::string text(time_point at);

} // namespace semel::conformance
