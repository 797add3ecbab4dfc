// What the statements of a transaction are given.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "semel/core/record.hpp"

namespace semel::postgres {

// Never seen before in this session or any other.
[[nodiscard]] std::string new_token();

// The key's own among advisory locks; records of different tables do not stand in each other's way.
[[nodiscard]] std::int64_t lock_number(std::string_view prefix, const record_id& id);

// As long as what they are of.
[[nodiscard]] std::string_view view(const std::array<char, 8>& bytes);
[[nodiscard]] std::string_view view(const std::string& bytes);
[[nodiscard]] std::string_view view_or_null(const std::string& bytes); // null where it is empty
[[nodiscard]] std::vector<std::string_view> id_values(const record_id& id);

} // namespace semel::postgres
