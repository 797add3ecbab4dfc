// One pass of the reconciler: find, judge, ask, settle, tell.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "semel/base/mutex.hpp"
#include "semel/operations.hpp"

namespace semel {

// What to do about a lapsed record.
enum class stuck_duty : std::uint8_t {
    nothing, // not for long enough
    tell,    // an operator or its client decides: an alert is due
    ask,     // its probe is due
};

// Pure.
[[nodiscard]] stuck_duty duty_about(const record& it, const reconcile_rule& rule, time_point now);
[[nodiscard]] duration ask_again_after(const reconciler_options& options, std::uint32_t attempt);

// Used once.
class reconcile_pass {
public:
    // The arguments outlive the pass. If `stop` becomes true, the pass ends what it has begun and
    // leaves the rest.
    reconcile_pass(store& records, const reconciler_options& options, const std::atomic<bool>& stop)
        : records_(records), options_(options), stop_(stop) {}

    result<reconcile_report> run();

private:
    enum class asked { settled, open };
    using tally = std::size_t reconcile_report::*;
    struct telling {
        std::uint64_t count = 0;
        duration oldest = {};
        record_id of = {}; // the oldest
    };

    [[nodiscard]] const reconcile_rule& rule_of(const record_id& id) const;
    [[nodiscard]] duration first_alert() const;
    result<time_point> store_time();
    result<std::vector<found_record>> find_stuck();
    void handle(const found_record& one);
    asked ask(const found_record& one, const reconcile_rule& rule);
    asked judge(const found_record& one, const reconcile_rule& rule, bool& conclusive);
    asked store_verdict(const found_record& one, commands::resolve what, tally which);
    void tell(const found_record& one);
    void send_alerts();
    void count(tally which);
    void failed(const failure& why);

    store& records_;
    const reconciler_options& options_;
    const std::atomic<bool>& stop_;
    time_point now_ = {}; // the store's, when the pass began

    detail::mutex mutex_;
    reconcile_report report_ SEMEL_GUARDED_BY(mutex_);
    std::map<std::string, telling> to_tell_ SEMEL_GUARDED_BY(mutex_);
};

} // namespace semel
