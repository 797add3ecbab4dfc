#include "edge/console/console.hpp"

#include <utility>

#include "edge/console/console_core.hpp"
#include "edge/console/pages.hpp"
#include "edge/console/visit.hpp"

namespace semel::edge {

console::console(store& records, runtime& timers, console_options options)
    : core_(std::make_shared<console_core>(records, timers, std::move(options))) {
    core_->open();
}

console::~console() {
    core_->close();
}

handler console::requests() {
    return [core = core_](served_request request, reply answer) {
        auto hardened = [answer = std::move(answer)](http::response with) mutable {
            harden(with);
            answer(std::move(with));
        };
        console_visit{core, std::move(request), std::move(hardened)}.run();
    };
}

} // namespace semel::edge
