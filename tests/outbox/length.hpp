// Whether the suite was asked to take its time.
#pragma once

namespace semel::outbox {

inline bool& long_run() {
    static bool it = false;
    return it;
}

} // namespace semel::outbox
