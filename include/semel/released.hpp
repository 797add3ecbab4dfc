// For work that did nothing that counts, and whose request must be forgotten.
#pragma once

#include <exception>

namespace semel {

// If the work (or an adapter) throws this, the record is released, whatever the operation's policy
// says about exceptions. The key is then free, for another request, too.
class released : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "the result is not kept"; }
};

} // namespace semel
