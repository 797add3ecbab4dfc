#include "semel/stores/postgres.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "store/laned_store.hpp"
#include "store/row_search.hpp"
#include "stores/postgres/backend.hpp"
#include "stores/postgres/schema.hpp"

namespace semel {

namespace {

// Few enough that the lanes do not notice a sweep.
constexpr std::size_t purge_chunk = 200;
constexpr std::size_t lanes_max = 64;
// Creating an index on a large table takes its time, and so do others that migrate.
constexpr duration migration_timeout = std::chrono::minutes{10};

class postgres_store final : public laned_store {
public:
    struct parts {
        std::unique_ptr<postgres::session_options> options = {};
        std::unique_ptr<store_counters> own_counters = {};
        std::vector<std::unique_ptr<batch_backend>> lanes = {};
        std::unique_ptr<postgres::backend> keeper = {};
        std::unique_ptr<postgres::backend> sweeper = {};
    };

    postgres_store(parts made, const lane_options& options)
        : laned_store(std::move(made.lanes), std::move(made.keeper), options),
          options_(std::move(made.options)),
          own_counters_(std::move(made.own_counters)),
          sweeper_(std::move(made.sweeper)) {}

    // The lanes use the options.
    ~postgres_store() override { drain(); }

    result<sweep_report> sweep(const sweep_request& request) override {
        const std::lock_guard lock{sweeping_};
        sweep_report report;
        while (report.removed < request.records_max) {
            const std::size_t most = std::min(purge_chunk, request.records_max - report.removed);
            const auto removed = sweeper_->purge(most, request.now);
            if (!removed) return removed.error();
            report.removed += *removed;
            if (*removed < most) return report;
        }
        report.state = sweep_state::more;
        return report;
    }

    result<std::vector<audit_entry>> audit(const record_id& id) override {
        const std::lock_guard lock{sweeping_};
        return sweeper_->audit(id);
    }

    result<record_page> search(const record_query& query) override {
        return search_rows(query, [&](const row_request& which) {
            const std::lock_guard lock{sweeping_};
            return sweeper_->read(query, which);
        });
    }

    [[nodiscard]] store_traits traits() const override {
        return {.in_memory = false, .durable = true};
    }

private:
    const std::unique_ptr<postgres::session_options> options_;
    const std::unique_ptr<store_counters> own_counters_; // where the user wants none
    std::mutex sweeping_;
    const std::unique_ptr<postgres::backend> sweeper_; // guarded by sweeping_
};

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "postgres: " + std::move(detail)};
}

result<void> check(const postgres_options& options) {
    if (!postgres::valid_prefix(options.table_prefix)) {
        return refused("the table prefix '" + options.table_prefix +
                       "' must be 1 to 32 lower-case letters, digits and underscores, no digit "
                       "first");
    }
    if (options.lanes == 0 || options.lanes > lanes_max) {
        return refused("lanes must be 1 to " + std::to_string(lanes_max));
    }
    if (options.batch_max == 0) return refused("batch_max is 0");
    for (const duration one :
         {options.connect_timeout, options.statement_timeout, options.lock_timeout}) {
        if (one < std::chrono::milliseconds{1}) return refused("a time-out is below 1 ms");
    }
    return {};
}

result<std::unique_ptr<postgres::session_options>> session_of(const postgres_options& options) {
    auto to = postgres::read_target({.url = options.url,
                                     .connect_timeout = options.connect_timeout,
                                     .answer_timeout = options.statement_timeout,
                                     .lock_timeout = options.lock_timeout});
    if (!to) return std::move(to).error();
    return std::make_unique<postgres::session_options>(
        postgres::session_options{.to = *std::move(to),
                                  .table_prefix = options.table_prefix,
                                  .texts = postgres::statement_texts{options.table_prefix}});
}

} // namespace

result<std::unique_ptr<store>> open_postgres_store(const postgres_options& options) {
    if (auto sound = check(options); !sound) return std::move(sound).error();
    auto session = session_of(options);
    if (!session) return std::move(session).error();
    postgres_store::parts made;
    made.options = *std::move(session);
    made.own_counters = std::make_unique<store_counters>();
    store_counters& counters = options.counters == nullptr ? *made.own_counters : *options.counters;
    for (auto* where : {&made.keeper, &made.sweeper}) {
        auto opened = postgres::backend::open(*made.options, counters);
        if (!opened) return std::move(opened).error();
        *where = *std::move(opened);
    }
    for (std::size_t i = 0; i < options.lanes; ++i) {
        auto opened = postgres::backend::open(*made.options, counters);
        if (!opened) return std::move(opened).error();
        made.lanes.push_back(*std::move(opened));
    }
    return std::unique_ptr<store>{std::make_unique<postgres_store>(
        std::move(made),
        lane_options{.queue_max = options.queue_max, .batch_max = options.batch_max})};
}

result<migration_report> migrate_postgres(const postgres_options& options, migrate_mode mode) {
    postgres_options patient = options;
    patient.statement_timeout = migration_timeout;
    patient.lock_timeout = migration_timeout;
    if (auto sound = check(patient); !sound) return std::move(sound).error();
    auto to = session_of(patient);
    if (!to) return std::move(to).error();
    postgres::session_options& session = **to;
    auto on = postgres::connection::start(session.to);
    if (!on) return std::move(on).error();
    const auto got = (*on)->advance(local_clock::now() + session.to.connect_timeout);
    if (!got) return got.error();
    if (*got == postgres::connection::progress::pending) {
        return refused("no connection in time; check host, port and firewalls");
    }
    if (auto ready = postgres::set_up(**on, session.to); !ready) return std::move(ready).error();
    return postgres::migrate(**on, options.table_prefix, mode,
                             local_clock::now() + migration_timeout);
}

} // namespace semel
