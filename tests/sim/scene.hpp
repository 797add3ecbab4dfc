// What all parts of one simulated run share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "semel/core/record.hpp"
#include "sim/dice.hpp"
#include "sim/faults.hpp"
#include "sim/scheduler.hpp"
#include "sim/sometimes.hpp"

namespace semel::sim {

struct violation {
    std::string property; // S1 … S17, L1 … L7
    std::string what;
    duration at = {};
};

// The story of a run, line by line; silent unless it was asked for, since most runs are clean.
class journal {
public:
    enum class mode { silent, written };
    explicit journal(mode how) : written_(how == mode::written) {}

    [[nodiscard]] bool written() const { return written_; }
    void line(duration at, const std::string& text) {
        lines_.push_back(std::to_string(at.count()) + " " + text);
    }
    [[nodiscard]] std::vector<std::string> take() { return std::move(lines_); }

private:
    bool written_;
    std::vector<std::string> lines_;
};

inline std::string text_of(std::string_view part) {
    return std::string{part};
}
inline std::string text_of(std::uint64_t number) {
    return std::to_string(number);
}
inline std::string text_of(duration span) {
    return std::to_string(span.count()) + "us";
}
inline std::string text_of(const record_id& id) {
    return id.tenant + "/" + id.operation + "/" + id.key;
}

struct scene {
    scene(std::uint64_t seed, journal::mode how)
        : random(seed), trace(how), plan(choose_faults(random)) {}

    // The first violation counts; the run stops at it.
    void fail(std::string_view property, std::string what) {
        if (broken) return;
        broken = violation{std::string{property}, std::move(what), loop.now()};
    }
    template <class... Parts> void say(const Parts&... parts) {
        if (trace.written()) trace.line(loop.now(), (text_of(parts) + ...));
    }

    dice random;
    scheduler loop;
    journal trace;
    fault_plan plan;
    tally seen;
    std::uint64_t next_listener = 0;
    std::optional<violation> broken;
};

} // namespace semel::sim
