#include "semel/databases/sqlite.hpp"

#include <utility>

#include "databases/sqlite/client/schema.hpp"
#include "databases/sqlite/store/backend.hpp"
#include "store/sql_store.hpp"

namespace semel {

namespace {

// For connections that only renew, sweep and read audits.
constexpr std::size_t small_cache_bytes = std::size_t{4} << 20;

using sqlite_store = sql_store<sqlite::backend, sqlite::write_gate>;

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "sqlite: " + std::move(detail)};
}

} // namespace

result<void> check(const sqlite_store_options& options) {
    if (options.path.empty()) return refused("the path is empty; name a file");
    if (options.path == ":memory:") return refused("use the store `memory:` instead of :memory:");
    if (!sqlite::valid_prefix(options.table_prefix)) {
        return refused("the table prefix '" + options.table_prefix +
                       "' must be 1 to 32 letters, digits and underscores, no digit first");
    }
    if (options.lock_wait < duration::zero()) return refused("lock_wait is negative");
    if (options.batch_max == 0) return refused("batch_max is 0");
    return {};
}

result<std::unique_ptr<store>> open_sqlite_store(const sqlite_store_options& options) {
    if (auto sound = check(options); !sound) return std::move(sound).error();
    sqlite_store::parts made{.session = std::make_unique<sqlite::write_gate>()};
    std::unique_ptr<sqlite::backend> writer;
    struct {
        std::unique_ptr<sqlite::backend>& where;
        std::size_t cache_bytes;
    } const all[]{{writer, options.cache_bytes},
                  {made.keeper, small_cache_bytes},
                  {made.sweeper, small_cache_bytes}};
    for (const auto& one : all) {
        auto opened = sqlite::backend::open(options, *made.session, one.cache_bytes);
        if (!opened) return std::move(opened).error();
        one.where = *std::move(opened);
    }
    made.lanes.push_back(std::move(writer));
    return std::unique_ptr<store>{std::make_unique<sqlite_store>(
        std::move(made),
        lane_options{.queue_max = options.queue_max, .batch_max = options.batch_max})};
}

} // namespace semel
