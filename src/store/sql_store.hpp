// A store on a database: lanes, one keeper for renewals and one sweeper, each a backend with a
// connection of its own.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "semel/base/mutex.hpp"
#include "semel/core/metrics.hpp"
#include "store/laned_store.hpp"
#include "store/row_search.hpp"

namespace semel {

// Backend: purge, audit and read, beside batch_backend. Session: what its backends share.
template <class Backend, class Session> class sql_store final : public laned_store {
public:
    struct parts {
        std::unique_ptr<Session> session = {};
        std::unique_ptr<store_counters> own_counters = {};
        std::vector<std::unique_ptr<batch_backend>> lanes = {};
        std::unique_ptr<Backend> keeper = {};
        std::unique_ptr<Backend> sweeper = {};
    };

    sql_store(parts made, const lane_options& options)
        : laned_store(std::move(made.lanes), std::move(made.keeper), options),
          session_(at_home(std::move(made.session))),
          own_counters_(std::move(made.own_counters)),
          sweeper_(at_home(std::move(made.sweeper))) {}

    // The lanes use the session.
    ~sql_store() override { drain(); }

    result<sweep_report> sweep(const sweep_request& request) override {
        // Few enough that the lanes do not notice a sweep.
        constexpr std::size_t chunk = 200;
        if (auto home = check_home(); !home) return std::move(home).error();
        const detail::guard lock{sweeping_};
        sweep_report report;
        while (report.removed < request.records_max) {
            const std::size_t most = std::min(chunk, request.records_max - report.removed);
            const auto removed = sweeper_->purge(most, request.now);
            if (!removed) return removed.error();
            report.removed += *removed;
            if (*removed < most) return report;
        }
        report.state = sweep_state::more;
        return report;
    }

    result<std::vector<audit_entry>> audit(const record_id& id) override {
        if (auto home = check_home(); !home) return std::move(home).error();
        const detail::guard lock{sweeping_};
        return sweeper_->audit(id);
    }

    result<record_page> search(const record_query& query) override {
        if (auto home = check_home(); !home) return std::move(home).error();
        return search_rows(query, [&](const row_request& which) {
            const detail::guard lock{sweeping_};
            return sweeper_->read(query, which);
        });
    }

    [[nodiscard]] store_traits traits() const override {
        return {.in_memory = false, .durable = true};
    }

private:
    const home_ptr<Session> session_;
    const std::unique_ptr<store_counters> own_counters_; // where the user wants none
    detail::mutex sweeping_;
    const home_ptr<Backend> sweeper_ SEMEL_GUARDED_BY(sweeping_);
};

struct sql_store_options {
    std::size_t lanes = 1;
    store_counters* counters = nullptr; // null: the store's own
    lane_options lane = {};
};

// On a server; every connection is there when this returns. Backend has open(const Session&,
// store_counters&) as well.
template <class Backend, class Session>
result<std::unique_ptr<store>> open_sql_store(std::unique_ptr<Session> session,
                                              const sql_store_options& options) {
    using made_store = sql_store<Backend, Session>;
    typename made_store::parts made;
    made.session = std::move(session);
    made.own_counters = std::make_unique<store_counters>();
    store_counters& counters = options.counters == nullptr ? *made.own_counters : *options.counters;
    for (auto* where : {&made.keeper, &made.sweeper}) {
        auto opened = Backend::open(*made.session, counters);
        if (!opened) return std::move(opened).error();
        *where = *std::move(opened);
    }
    for (std::size_t i = 0; i < options.lanes; ++i) {
        auto opened = Backend::open(*made.session, counters);
        if (!opened) return std::move(opened).error();
        made.lanes.push_back(*std::move(opened));
    }
    lane_options lane = options.lane;
    lane.counters = options.counters; // only those that outlive the lanes
    return std::unique_ptr<store>{std::make_unique<made_store>(std::move(made), lane)};
}

} // namespace semel
