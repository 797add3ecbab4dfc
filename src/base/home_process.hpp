// Which process an object lives in. What has threads or a connection is useless in a forked child:
// the child has none of the threads, and its descriptors are the parent's.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "semel/base/result.hpp"

namespace semel {

// Another number in a child than in its parent, if the child was forked after the first call.
[[nodiscard]] std::uint64_t fork_generation();

// A member of what has threads or a connection.
class home_process {
public:
    // True in a child that was forked after this was made.
    [[nodiscard]] bool left() const { return fork_generation() != generation_; }

private:
    std::uint64_t generation_ = fork_generation();
};

// What a call is answered there. `what` was opened: "the engine", "the store" …
[[nodiscard]] failure opened_before_fork(std::string_view what);

// Owns what has threads or a connection. A forked child leaves it alone: threads that are not there
// cannot be joined, another thread may have been changing it, and a goodbye would end the parent's
// session.
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
