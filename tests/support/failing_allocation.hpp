// Which allocation fails, in a program one file of which includes failing_memory.hpp.
#pragma once

namespace semel::testing_support {

// Of this thread, counted from now; 0: none.
inline thread_local int failing_allocation = 0;

} // namespace semel::testing_support
