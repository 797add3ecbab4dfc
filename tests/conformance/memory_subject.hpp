// The memory store as a subject.
#pragma once

#include <memory>

#include "semel/conformance.hpp"
#include "semel/store/memory.hpp"

namespace semel::conformance {

class memory_backing final : public backing {
public:
    result<std::unique_ptr<store>> open() override { return open_memory_store(); }
};

inline subject memory_subject() {
    return {.name = "memory",
            .make = [] { return std::make_unique<memory_backing>(); },
            .purges = purging::in_passing};
}

} // namespace semel::conformance
