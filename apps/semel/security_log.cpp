#include "security_log.hpp"

#include <utility>

#include "semel/base/mutex.hpp"

namespace semel::app {

void security_log::add(const edge::security_event& what, clock::time_point now) {
    std::uint64_t left_out = 0;
    {
        const detail::guard lock{mutex_};
        of_kind& kind = kinds_.at(static_cast<std::size_t>(what.what));
        ++kind.seen;
        if (now - kind.second >= std::chrono::seconds{1}) {
            kind.second = now;
            kind.lines = 0;
        }
        if (kind.lines == lines_max) {
            ++kind.unlogged;
            ++kind.unlogged_since;
            return;
        }
        ++kind.lines;
        left_out = std::exchange(kind.unlogged_since, 0);
    }
    log_info(*log_, "security",
             {{"event", name(what.what)},
              {"at", what.at},
              {"peer", what.peer},
              {"path", what.path},
              {"tenant", what.tenant},
              {"token", what.token},
              {"left_out_before", left_out}});
}

edge::security_counts security_log::counts() const {
    const detail::guard lock{mutex_};
    edge::security_counts made;
    for (std::size_t i = 0; i < kinds_.size(); ++i) {
        made.seen.at(i) = kinds_.at(i).seen;
        made.unlogged += kinds_.at(i).unlogged;
    }
    return made;
}

} // namespace semel::app
