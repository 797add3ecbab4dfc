// SEMEL_ASSERT: a broken invariant ends the process. Always on, in release builds too: a wrong
// record costs more than a restart, and every record survives a crash by design.
#pragma once

namespace semel::detail {
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);
}

#define SEMEL_ASSERT(condition)                                                                    \
    (static_cast<bool>(condition)                                                                  \
         ? static_cast<void>(0)                                                                    \
         : ::semel::detail::assertion_failed(#condition, __FILE__, __LINE__))
