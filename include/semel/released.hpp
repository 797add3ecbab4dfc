// Work that did nothing that counts, and whose request is to be forgotten.
#pragma once

#include <exception>

namespace semel {

// Thrown by work (or by what an adapter puts in its place): the record is released, whatever the
// operation's policy says of exceptions. The key is then free, for another request too.
class released : public std::exception {
public:
    [[nodiscard]] const char* what() const noexcept override { return "the result is not kept"; }
};

} // namespace semel
