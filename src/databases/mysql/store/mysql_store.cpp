#include "semel/databases/mysql.hpp"

#include <utility>

#include "databases/mysql/client/schema.hpp"
#include "databases/mysql/store/backend.hpp"
#include "store/sql_store.hpp"

namespace semel {

namespace {

constexpr std::size_t lanes_max = 64;
// The server works out where each key of a batch lies, in bounded memory.
constexpr std::size_t batch_max = 1'024;
// Text may grow to twice its size, and the server takes 16 MiB by default.
constexpr std::size_t batch_bytes_max = std::size_t{4} << 20;
// Creating an index on a large table takes its time, and so do others that migrate.
constexpr duration migration_timeout = std::chrono::minutes{10};

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "mysql: " + std::move(detail)};
}

// Before anything is written down in it.
result<mysql_dialect> dialect_at(const mysql::target& to, mysql_dialect wanted) {
    auto on = mysql::connect(to);
    if (!on) return std::move(on).error();
    const auto spoken = mysql::find_dialect(**on, local_clock::now() + to.answer_timeout);
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
    if (auto to = mysql::read_target(options); !to) return std::move(to).error();
    return {};
}

result<std::unique_ptr<store>> open_mysql_store(const mysql_store_options& options) {
    if (auto sound = check(options); !sound) return std::move(sound).error();
    auto session = session_of(options);
    if (!session) return std::move(session).error();
    return open_sql_store<mysql::backend>(
        *std::move(session), {.lanes = options.lanes,
                              .counters = options.counters,
                              .lane = lane_options{.queue_max = options.queue_max,
                                                   .batch_max = options.batch_max,
                                                   .batch_bytes_max = batch_bytes_max}});
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
    const auto spoken = mysql::find_dialect(**on, local_clock::now() + to->answer_timeout);
    if (!spoken) return spoken.error();
    if (auto ready = mysql::set_up(**on, *to, *spoken); !ready) return std::move(ready).error();
    return mysql::migrate(**on, options.table_prefix, mode, local_clock::now() + migration_timeout);
}

} // namespace semel
