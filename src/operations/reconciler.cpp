#include "semel/operations.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <thread>
#include <utility>

#include "base/home_process.hpp"
#include "operations/reconcile_pass.hpp"
#include "semel/base/mutex.hpp"

namespace semel {
namespace {

// Where a search walks over all records, it must not keep the store busy.
constexpr int rest_per_search = 10;

void check(const reconciler_options& options) {
    const auto positive = [](duration length, const char* name) {
        if (length > duration::zero()) return;
        throw_failure({.code = errc::invalid_argument,
                       .detail = std::string{"reconciler: "} + name + " must be positive"});
    };
    positive(options.every, "every");
    positive(options.probe_max, "probe_max");
    positive(options.ask_again, "ask_again");
    positive(options.ask_again_max, "ask_again_max");
    positive(options.alert_again, "alert_again");
    const auto sound = [&](const reconcile_rule& rule) {
        positive(rule.alert_after, "alert_after");
        positive(rule.settle_after, "settle_after");
        positive(rule.retention, "retention");
    };
    sound(options.defaults);
    for (const auto& [name, rule] : options.operations) sound(rule);
}

void add(reconcile_report& to, const reconcile_report& more) {
    for (const auto member :
         {&reconcile_report::stuck, &reconcile_report::asked, &reconcile_report::committed,
          &reconcile_report::not_executed, &reconcile_report::unknown, &reconcile_report::late,
          &reconcile_report::left, &reconcile_report::alerted, &reconcile_report::failures}) {
        to.*member += more.*member;
    }
    to.search_took += more.search_took;
}

} // namespace

struct reconciler::parts {
    store& records;
    const reconciler_options options;
    const home_process home = {};

    std::atomic<bool> stopping = false;
    mutable detail::mutex mutex = {};
    std::condition_variable_any changed = {};
    reconcile_counts counts SEMEL_GUARDED_BY(mutex) = {};
    std::jthread thread = {}; // the last: it uses everything above
};

reconciler::reconciler(store& records, reconciler_options options)
    : parts_(new parts{.records = records, .options = std::move(options)}) {
    check(parts_->options);
}

reconciler::~reconciler() {
    if (parts_->home.left()) {
        static_cast<void>(parts_.release()); // its thread is the parent's
    } else {
        stop();
    }
}

result<reconcile_report> reconciler::pass() {
    if (parts_->home.left()) return opened_before_fork("the reconciler");
    auto report = reconcile_pass{parts_->records, parts_->options, parts_->stopping}.run();
    const detail::guard lock{parts_->mutex};
    ++parts_->counts.passes;
    if (report) {
        add(parts_->counts.sum, *report);
        parts_->counts.stuck_now = report->stuck;
    } else {
        ++parts_->counts.sum.failures;
    }
    return report;
}

void reconciler::start() {
    parts_->stopping = false;
    parts_->thread = std::jthread{[this](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const auto report = pass();
            if (!report && parts_->options.log) {
                log_warning(*parts_->options.log, "stuck records could not be searched",
                            {{"why", describe(report.error())}});
            }
            duration away = parts_->options.every;
            if (report) away = std::max(away, report->search_took * rest_per_search);
            detail::guard lock{parts_->mutex};
            parts_->changed.wait_for(lock, stop, away, [] { return false; });
        }
    }};
}

void reconciler::stop() {
    if (parts_->home.left()) return;
    parts_->stopping = true;
    parts_->thread.request_stop();
    if (parts_->thread.joinable()) parts_->thread.join();
}

reconcile_counts reconciler::counts() const {
    const detail::guard lock{parts_->mutex};
    return parts_->counts;
}

} // namespace semel
