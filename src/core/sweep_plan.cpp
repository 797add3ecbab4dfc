#include "core/sweep_plan.hpp"

#include <algorithm>

namespace semel {
namespace {

// Smaller ones cost more by their number than they spare by their size.
constexpr std::size_t records_min = 16;
constexpr unsigned whole = 100;
// A table that only grows is worse than slower executions: with every minute in which more was left
// than removed it may work once its share more, up to half of the time.
constexpr duration patience = std::chrono::minutes{1};
constexpr unsigned hurried = 50;

failure invalid(std::string name, std::string why) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "sweep." + std::move(name) + " " + std::move(why)};
}

} // namespace

result<void> check(const sweep_options& options) {
    if (options.records_max == 0) return invalid("records_max", "must be at least 1");
    if (options.share_percent == 0 || options.share_percent > whole) {
        return invalid("share_percent", "must be 1 to 100");
    }
    if (options.batch_time <= duration::zero()) return invalid("batch_time", "must be positive");
    return {};
}

duration sweep_pace::next(const result<sweep_report>& last, duration took) {
    if (!last || last->state == sweep_state::done) {
        behind_ = {};
        return options_.idle;
    }
    if (took > options_.batch_time) {
        records_max_ = std::max(std::min(records_min, options_.records_max), records_max_ / 2);
    } else if (took < options_.batch_time / 2) {
        records_max_ = std::min(options_.records_max, records_max_ * 2);
    }
    const unsigned share = share_percent();
    const duration pause = std::max(options_.busy, took * (whole - share) / share);
    behind_ += took + pause;
    return pause;
}

unsigned sweep_pace::share_percent() const {
    if (options_.share_percent >= hurried) return options_.share_percent;
    const auto times = std::min<duration::rep>(behind_ / patience, whole);
    return std::min(hurried, options_.share_percent * static_cast<unsigned>(1 + times));
}

} // namespace semel
