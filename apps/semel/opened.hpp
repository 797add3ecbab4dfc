// What a subcommand does with a part that could not be opened.
#pragma once

#include <utility>

#include "commands.hpp"
#include "semel/base/result.hpp"

namespace semel::app {

// The part, or usage_error where the arguments are at fault, else failure_error.
template <class T> [[nodiscard]] T opened(result<T> made) {
    if (made) return *std::move(made);
    const errc code = made.error().code;
    const bool usage =
        code == errc::invalid_argument || code == errc::unknown_store || code == errc::unsupported;
    if (usage) throw usage_error(describe(made.error()));
    throw_failure(made.error());
}

} // namespace semel::app
