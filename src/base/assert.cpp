#include "semel/base/result.hpp"

#include <cstdio>
#include <cstdlib>

namespace semel::detail {

void assertion_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "semel: broken invariant: %s (%s:%d)\n", condition, file, line);
    std::abort();
}

} // namespace semel::detail
