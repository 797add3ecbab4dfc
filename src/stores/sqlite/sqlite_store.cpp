#include "semel/stores/sqlite.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "store/laned_store.hpp"
#include "store/row_search.hpp"
#include "stores/sqlite/backend.hpp"
#include "stores/sqlite/schema.hpp"

namespace semel {

namespace {

// Few enough that the lanes do not notice a sweep.
constexpr std::size_t purge_chunk = 200;
// For connections that only renew, sweep and read audits.
constexpr std::size_t small_cache_bytes = std::size_t{4} << 20;

class sqlite_store final : public laned_store {
public:
    struct parts {
        std::unique_ptr<sqlite::write_gate> gate = std::make_unique<sqlite::write_gate>();
        std::unique_ptr<sqlite::backend> writer = {};
        std::unique_ptr<sqlite::backend> keeper = {};
        std::unique_ptr<sqlite::backend> sweeper = {};
    };

    sqlite_store(parts made, const lane_options& options)
        : laned_store(one(std::move(made.writer)), std::move(made.keeper), options),
          gate_(std::move(made.gate)),
          sweeper_(std::move(made.sweeper)) {}

    // The lanes use the gate.
    ~sqlite_store() override { drain(); }

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
    static std::vector<std::unique_ptr<batch_backend>> one(std::unique_ptr<sqlite::backend> it) {
        std::vector<std::unique_ptr<batch_backend>> made;
        made.push_back(std::move(it));
        return made;
    }

    const std::unique_ptr<sqlite::write_gate> gate_;
    std::mutex sweeping_;
    const std::unique_ptr<sqlite::backend> sweeper_; // guarded by sweeping_
};

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "sqlite: " + std::move(detail)};
}

result<void> check(const sqlite_options& options) {
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

} // namespace

result<std::unique_ptr<store>> open_sqlite_store(const sqlite_options& options) {
    if (auto sound = check(options); !sound) return std::move(sound).error();
    sqlite_store::parts made;
    struct {
        std::unique_ptr<sqlite::backend>& where;
        std::size_t cache_bytes;
    } const all[]{{made.writer, options.cache_bytes},
                  {made.keeper, small_cache_bytes},
                  {made.sweeper, small_cache_bytes}};
    for (const auto& one : all) {
        auto opened = sqlite::backend::open(options, *made.gate, one.cache_bytes);
        if (!opened) return std::move(opened).error();
        one.where = *std::move(opened);
    }
    return std::unique_ptr<store>{std::make_unique<sqlite_store>(
        std::move(made),
        lane_options{.queue_max = options.queue_max, .batch_max = options.batch_max})};
}

} // namespace semel
