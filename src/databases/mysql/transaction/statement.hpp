// A statement of a transaction on the caller's connection.
#pragma once

#include <string>

#include "semel/base/result.hpp"

namespace semel::mysql {

// A statement, and what it must do.
struct statement {
    enum class expects {
        anything,
        one_row, // changed or inserted
        truth,   // of a condition, which is all of the text
    };
    std::string text;
    expects what = expects::anything;
    failure otherwise = {.code = errc::internal};
};

} // namespace semel::mysql
