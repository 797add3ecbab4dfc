#include "semel/databases/redis.hpp"

#include <utility>

#include "databases/redis/client/errors.hpp"
#include "databases/redis/client/keys.hpp"
#include "databases/redis/client/listener.hpp"
#include "databases/redis/client/opening.hpp"
#include "databases/redis/store/backend.hpp"
#include "databases/redis/store/record_codec.hpp"
#include "databases/redis/store/search.hpp"
#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"
#include "store/laned_store.hpp"

namespace semel {

namespace {

// What the backends use, and what outlives them.
struct redis_parts {
    redis::task_setting setting = {};
    store_counters* counters = nullptr;
    std::vector<std::shared_ptr<redis::shared_link>> lanes = {};
    std::shared_ptr<redis::shared_link> keeper = {};
    std::shared_ptr<redis::shared_link> operators = {};
    home_ptr<redis::listener> ear = {}; // none: no publisher or no connection
};

class redis_store final : public laned_store {
public:
    redis_store(std::unique_ptr<redis_parts> parts, const lane_options& options)
        : laned_store(backends_of(*parts), backend_on(parts->keeper, *parts), options),
          parts_(std::move(parts)),
          sweeper_(at_home(backend_on(parts_->operators, *parts_))) {}

    // The lanes use the setting.
    ~redis_store() override { drain(); }

    // Redis itself removes expired records. Only the time of a test is unknown to it.
    result<sweep_report> sweep(const sweep_request& request) override {
        if (auto home = check_home(); !home) return std::move(home).error();
        if (!request.now) return sweep_report{};
        const detail::guard lock{sweeping_};
        return sweep_by_test_time(request);
    }

    result<std::vector<audit_entry>> audit(const record_id& id) override {
        if (auto home = check_home(); !home) return std::move(home).error();
        const std::string key = redis::audit_key(parts_->setting.prefix, hash_of(id), id);
        const detail::guard lock{parts_->operators->mutex};
        const auto got = parts_->operators->it.ask({"LRANGE", key, "0", "-1"});
        if (!got) return redis::once_open(got.error());
        std::vector<audit_entry> found;
        for (const auto& one : (*got)->items) {
            auto entry = redis::decode_audit(one.text);
            if (!entry) return std::move(entry).error();
            found.push_back(*std::move(entry));
        }
        return found;
    }

    result<record_page> search(const record_query& query) override {
        if (auto home = check_home(); !home) return std::move(home).error();
        const detail::guard lock{sweeping_};
        return redis::search(
            {.on = *parts_->operators, .prefix = parts_->setting.prefix, .lookups = *sweeper_},
            query);
    }

    [[nodiscard]] store_traits traits() const override {
        return {.in_memory = false, .durable = true};
    }

    [[nodiscard]] std::unique_ptr<record_watch> watch(const record_id& id,
                                                      unique_function<void()> news) override {
        if (parts_->ear == nullptr || !check_home()) return nullptr;
        return parts_->ear->listen(redis::record_key(parts_->setting.prefix, hash_of(id), id),
                                   std::move(news));
    }

private:
    static std::unique_ptr<redis::backend> backend_on(std::shared_ptr<redis::shared_link> link,
                                                      const redis_parts& parts) {
        return std::make_unique<redis::backend>(std::move(link), parts.setting, parts.counters);
    }

    static std::vector<std::unique_ptr<batch_backend>> backends_of(const redis_parts& parts) {
        std::vector<std::unique_ptr<batch_backend>> made;
        for (const auto& one : parts.lanes) made.push_back(backend_on(one, parts));
        return made;
    }

    result<sweep_report> sweep_by_test_time(const sweep_request& request)
        SEMEL_REQUIRES(sweeping_) {
        sweep_report report;
        std::string cursor = "0";
        do {
            auto next = redis::scan(*parts_->operators, parts_->setting.prefix, cursor);
            if (!next) return std::move(next).error();
            cursor = std::move(next->cursor);
            for (const auto& id : next->ids) {
                if (report.removed == request.records_max) {
                    report.state = sweep_state::more;
                    return report;
                }
                auto gone = purge(id, *request.now);
                if (!gone) return std::move(gone).error();
                if (*gone) ++report.removed;
            }
        } while (cursor != "0");
        return report;
    }

    result<bool> purge(const record_id& id, time_point now) SEMEL_REQUIRES(sweeping_) {
        job one{.id = id, .what = commands::purge{}, .now = now};
        job* const batch[]{&one};
        sweeper_->execute(batch);
        if (!*one.answer) return one.answer->error();
        return std::holds_alternative<answers::removed>((*one.answer)->said);
    }

    const std::unique_ptr<redis_parts> parts_;
    detail::mutex sweeping_;
    const home_ptr<redis::backend> sweeper_ SEMEL_GUARDED_BY(sweeping_);
};

result<std::unique_ptr<redis_parts>> make_parts(const redis_store_options& options) {
    const auto how = redis::link_options_of(options);
    if (!how) return how.error();
    auto made = std::make_unique<redis_parts>();
    made->setting = {.prefix = options.prefix, .wake = options.wake};
    made->counters = options.counters;
    made->operators = std::make_shared<redis::shared_link>(*how);
    const auto another = [&] {
        return options.connections == redis_connections::one
                   ? made->operators
                   : std::make_shared<redis::shared_link>(*how);
    };
    made->keeper = another();
    while (made->lanes.size() < options.lanes) made->lanes.push_back(another());
    made->ear = at_home(redis::make_listener(options, *how));
    return made;
}

} // namespace

result<void> check(const redis_store_options& options) {
    if (auto sound = redis::check_options(options); !sound) return sound;
    if (auto how = redis::link_options_of(options); !how) return std::move(how).error();
    return {};
}

result<std::unique_ptr<store>> open_redis_store(const redis_store_options& options) {
    if (auto sound = redis::check_options(options); !sound) return std::move(sound).error();
    auto parts = make_parts(options);
    if (!parts) return std::move(parts).error();
    {
        const detail::guard lock{(*parts)->operators->mutex};
        auto fit =
            redis::look_at_server((*parts)->operators->it, redis::server_use::records, options);
        if (!fit) return std::move(fit).error();
    }
    return std::unique_ptr<store>{std::make_unique<redis_store>(
        *std::move(parts), lane_options{.queue_max = options.queue_max,
                                        .batch_max = options.batch_max,
                                        .counters = options.counters})};
}

} // namespace semel
