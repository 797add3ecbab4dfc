// What a tiered store does about one command: pure, no clock and no I/O.
#pragma once

#include <cstdint>
#include <optional>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/command.hpp"
#include "semel/store/tiered.hpp"

namespace semel {

// What the front is asked before the truth; nothing for the commands of a running attempt, which
// may pass others on their way.
[[nodiscard]] std::optional<front_command> asked_first(const command& what, std::uint64_t token);

// The answer to a begin, if the front's entry is enough for it.
[[nodiscard]] std::optional<answer> answer_from(front_entry&& known, const commands::begin& what,
                                                time_point now);

// The command for the front after the truth has answered. It is made before, because the truth
// consumes the command.
class tier_lesson {
public:
    explicit tier_lesson(const command& what);

    // Whether the caller waits until the front knows, so that a repeat after the answer finds no
    // outdated entry. The caller does not wait for the news of a longer lease.
    [[nodiscard]] bool awaited() const { return does_ == kind::end || does_ == kind::forget; }

    struct setting {
        std::optional<std::uint64_t> token = {}; // of the look; none: the front was away
        duration gate_life = {};
        bool testing = false; // by a test's time, which the front does not know
    };
    [[nodiscard]] std::optional<front_command> after(const result<reply>& got,
                                                     const setting& with) &&;

private:
    enum class kind : std::uint8_t { nothing, claim, end, prolong, forget };

    void read(const commands::begin& what);
    void read(const commands::complete& what);
    void read(const commands::fail& what);
    void read(const commands::renew& what);
    void read(const commands::checkpoint&) {}
    void read(const commands::lookup&) {}
    template <class Other> void read(const Other&) { does_ = kind::forget; }

    [[nodiscard]] std::optional<front_entry> learnt(const reply& got, const setting& with) &&;
    [[nodiscard]] std::optional<front_command> after_end(const reply& got, const setting& with) &&;

    kind does_ = kind::nothing;
    claim by_ = {};
    front_entry entry_ = {};
    duration retention_ = {};
};

} // namespace semel
