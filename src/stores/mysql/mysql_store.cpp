#include "semel/stores/mysql.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "store/laned_store.hpp"
#include "store/row_search.hpp"
#include "stores/mysql/backend.hpp"
#include "stores/mysql/schema.hpp"

namespace semel {

namespace {

// Few enough that the lanes do not notice a sweep.
constexpr std::size_t purge_chunk = 200;
constexpr std::size_t lanes_max = 64;
// The server works out where each key of a batch lies, in bounded memory.
constexpr std::size_t batch_max = 1'024;
// Text may grow to twice its size, and the server takes 16 MiB by default.
constexpr std::size_t batch_bytes_max = std::size_t{4} << 20;
// Creating an index on a large table takes its time, and so do others that migrate.
constexpr duration migration_timeout = std::chrono::minutes{10};

class mysql_store final : public laned_store {
public:
    struct parts {
        std::unique_ptr<mysql::session_options> options = {};
        std::unique_ptr<store_counters> own_counters = {};
        std::vector<std::unique_ptr<batch_backend>> lanes = {};
        std::unique_ptr<mysql::backend> keeper = {};
        std::unique_ptr<mysql::backend> sweeper = {};
    };

    mysql_store(parts made, const lane_options& options)
        : laned_store(std::move(made.lanes), std::move(made.keeper), options),
          options_(std::move(made.options)),
          own_counters_(std::move(made.own_counters)),
          sweeper_(std::move(made.sweeper)) {}

    // The lanes use the options.
    ~mysql_store() override { drain(); }

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
    const std::unique_ptr<mysql::session_options> options_;
    const std::unique_ptr<store_counters> own_counters_; // where the user wants none
    std::mutex sweeping_;
    const std::unique_ptr<mysql::backend> sweeper_; // guarded by sweeping_
};

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "mysql: " + std::move(detail)};
}

result<void> check(const mysql_store_options& options) {
    if (!mysql::valid_prefix(options.table_prefix)) {
        return refused("the table prefix '" + options.table_prefix +
                       "' must be 1 to 32 lower-case letters, digits and underscores, no digit "
                       "first");
    }
    if (options.lanes == 0 || options.lanes > lanes_max) {
        return refused("lanes must be 1 to " + std::to_string(lanes_max));
    }
    if (options.batch_max == 0 || options.batch_max > batch_max) {
        return refused("batch_max must be 1 to " + std::to_string(batch_max));
    }
    for (const duration one :
         {options.connect_timeout, options.statement_timeout, options.lock_timeout}) {
        if (one < std::chrono::milliseconds{1}) return refused("a time-out is below 1 ms");
    }
    return {};
}

// The server tells which SQL it speaks, so it is asked before anything is written down.
result<mysql_dialect> dialect_at(const mysql::target& to, mysql_dialect wanted) {
    auto on = mysql::connect(to);
    if (!on) return std::move(on).error();
    const auto spoken = mysql::dialect_of((*on)->server_version());
    if (!spoken || wanted == mysql_dialect::automatic) return spoken;
    return wanted;
}

result<std::unique_ptr<mysql::session_options>> session_of(const mysql_store_options& options) {
    auto to = mysql::read_target(options);
    if (!to) return std::move(to).error();
    const auto dialect = dialect_at(*to, options.dialect);
    if (!dialect) return dialect.error();
    return std::make_unique<mysql::session_options>(
        mysql::session_options{.to = *std::move(to),
                               .table_prefix = options.table_prefix,
                               .texts = mysql::statement_texts{options.table_prefix, *dialect}});
}

} // namespace

result<std::unique_ptr<store>> open_mysql_store(const mysql_store_options& options) {
    if (auto sound = check(options); !sound) return std::move(sound).error();
    auto session = session_of(options);
    if (!session) return std::move(session).error();
    mysql_store::parts made;
    made.options = *std::move(session);
    made.own_counters = std::make_unique<store_counters>();
    store_counters& counters = options.counters == nullptr ? *made.own_counters : *options.counters;
    for (auto* where : {&made.keeper, &made.sweeper}) {
        auto opened = mysql::backend::open(*made.options, counters);
        if (!opened) return std::move(opened).error();
        *where = *std::move(opened);
    }
    for (std::size_t i = 0; i < options.lanes; ++i) {
        auto opened = mysql::backend::open(*made.options, counters);
        if (!opened) return std::move(opened).error();
        made.lanes.push_back(*std::move(opened));
    }
    return std::unique_ptr<store>{std::make_unique<mysql_store>(
        std::move(made), lane_options{.queue_max = options.queue_max,
                                      .batch_max = options.batch_max,
                                      .batch_bytes_max = batch_bytes_max})};
}

result<migration_report> migrate_mysql(const mysql_store_options& options, migrate_mode mode) {
    mysql_store_options patient = options;
    patient.statement_timeout = migration_timeout;
    patient.lock_timeout = migration_timeout;
    if (auto sound = check(patient); !sound) return std::move(sound).error();
    const auto to = mysql::read_target(patient);
    if (!to) return to.error();
    auto on = mysql::connect(*to);
    if (!on) return std::move(on).error();
    const auto spoken = mysql::dialect_of((*on)->server_version());
    if (!spoken) return spoken.error();
    if (auto ready = mysql::set_up(**on, *to, *spoken); !ready) return std::move(ready).error();
    return mysql::migrate(**on, options.table_prefix, mode, local_clock::now() + migration_timeout);
}

} // namespace semel
