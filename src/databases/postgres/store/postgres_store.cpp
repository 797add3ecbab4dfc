#include "semel/databases/postgres.hpp"

#include <utility>

#include "databases/postgres/client/schema.hpp"
#include "databases/postgres/store/backend.hpp"
#include "store/sql_store.hpp"

namespace semel {

namespace {

constexpr std::size_t lanes_max = 64;
// Creating an index on a large table takes its time, and so do others that migrate.
constexpr duration migration_timeout = std::chrono::minutes{10};

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "postgres: " + std::move(detail)};
}

result<postgres::target> target_of(const postgres_store_options& options) {
    return postgres::read_target({.url = options.url,
                                  .connect_timeout = options.connect_timeout,
                                  .answer_timeout = options.statement_timeout,
                                  .lock_timeout = options.lock_timeout,
                                  .mode = options.mode});
}

result<std::unique_ptr<postgres::session_options>>
session_of(const postgres_store_options& options) {
    auto to = target_of(options);
    if (!to) return std::move(to).error();
    return std::make_unique<postgres::session_options>(
        postgres::session_options{.to = *std::move(to),
                                  .table_prefix = options.table_prefix,
                                  .texts = postgres::statement_texts{options.table_prefix}});
}

} // namespace

result<void> check(const postgres_store_options& options) {
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
    if (auto to = target_of(options); !to) return std::move(to).error();
    return {};
}

result<std::unique_ptr<store>> open_postgres_store(const postgres_store_options& options) {
    if (auto sound = check(options); !sound) return std::move(sound).error();
    auto session = session_of(options);
    if (!session) return std::move(session).error();
    return open_sql_store<postgres::backend>(
        *std::move(session),
        {.lanes = options.lanes,
         .counters = options.counters,
         .lane = lane_options{.queue_max = options.queue_max, .batch_max = options.batch_max}});
}

result<migration_report> migrate_postgres(const postgres_store_options& options,
                                          migrate_mode mode) {
    postgres_store_options patient = options;
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
