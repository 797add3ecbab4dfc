// Carries one command of a running attempt to the store in the background, however often that
// takes.
#pragma once

#include "core/complete_machine.hpp"
#include "semel/base/function.hpp"
#include "semel/store.hpp"

namespace semel {

class engine_core;

// `done` is called once, from any thread: with the store's answer, or why it was given up.
void deliver(engine_core& core, record_id id, complete_options what,
             unique_function<void(result<reply>)> done);

} // namespace semel
