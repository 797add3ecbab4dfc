// What a transaction on the caller's connection is refused for.
#pragma once

#include <string>
#include <utility>

#include "semel/base/result.hpp"
#include "sql/held_keys.hpp"

namespace semel::mysql {

inline constexpr sql::refusals says{"mysql"};

inline failure refused(errc code, std::string detail) {
    return says.of(code, std::move(detail));
}
inline failure broken(std::string detail) {
    return says.broken(std::move(detail));
}

inline failure moved() {
    return broken("the work has left the connection with another default database; choose the one "
                  "it began with again");
}

inline failure row_is_gone() {
    return broken("the work has removed the row of its own record");
}

} // namespace semel::mysql
