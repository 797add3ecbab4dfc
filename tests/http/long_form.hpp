// `./test http --long`: what takes minutes, in full.
#pragma once

namespace semel::edge::support {

inline bool long_form = false; // set before the tests run

} // namespace semel::edge::support
