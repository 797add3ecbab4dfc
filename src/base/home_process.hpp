// The process in which an object was made. An object with threads or a connection is useless in a
// forked child: the child has none of the threads, and its descriptors are the parent's.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "semel/base/result.hpp"

namespace semel {

// The number differs between a child and its parent, if the child was forked after the first call.
[[nodiscard]] std::uint64_t fork_generation();

// A member of objects that have threads or a connection.
class home_process {
public:
    home_process() : generation_(fork_generation()) {}
    // True in a child that was forked after this was made.
    [[nodiscard]] bool left() const { return fork_generation() != generation_; }

private:
    std::uint64_t generation_;
};

// The failure of a call in a forked child. `what` names the object: "the engine", "the store" …
[[nodiscard]] failure opened_before_fork(std::string_view what);

// Owns an object with threads or a connection. A forked child does not destroy the object: the
// child cannot join threads that it does not have, another thread may have been changing the
// object, and closing the connection would end the parent's session.
struct delete_at_home {
    home_process home = {};

    template <class T> void operator()(T* it) const {
        if (!home.left()) delete it;
    }
};
template <class T> using home_ptr = std::unique_ptr<T, delete_at_home>;

template <class T> home_ptr<T> at_home(std::unique_ptr<T> it) {
    return home_ptr<T>{it.release()};
}

} // namespace semel
