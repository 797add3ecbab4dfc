#include <utility>
#include <vector>

#include "base/home_process.hpp"
#include "databases/redis/client/keys.hpp"
#include "databases/redis/client/listener.hpp"
#include "databases/redis/client/opening.hpp"
#include "databases/redis/front/front_lane.hpp"
#include "semel/databases/redis.hpp"

namespace semel {

namespace {

class redis_front final : public front_tier {
public:
    redis_front(const redis_store_options& options, const redis::link_options& how)
        : prefix_(options.prefix), ear_(at_home(redis::make_listener(options, how))) {
        while (lanes_.size() < options.lanes) {
            lanes_.push_back(at_home(std::make_unique<redis::front_lane>(
                redis::front_lane_options{.link = how,
                                          .pattern = redis::front_pattern(prefix_),
                                          .wake = options.wake,
                                          .queue_max = options.queue_max,
                                          .batch_max = options.batch_max})));
        }
    }

    void submit(const record_id& id, front_command what, front_completion done) override {
        const std::uint64_t hash = hash_of(id);
        lane_of(hash).submit(redis::front_key(prefix_, hash, id), std::move(what), std::move(done));
    }

    result<front_sight> call(const record_id& id, front_command what) override {
        const std::uint64_t hash = hash_of(id);
        return lane_of(hash).call(redis::front_key(prefix_, hash, id), std::move(what));
    }

    void clear() override {
        for (auto& one : lanes_) one->clear();
    }

    [[nodiscard]] std::unique_ptr<record_watch> watch(const record_id& id,
                                                      unique_function<void()> news) override {
        if (ear_ == nullptr) return nullptr;
        return ear_->listen(redis::front_key(prefix_, hash_of(id), id), std::move(news));
    }

private:
    // Commands on one record keep their order.
    redis::front_lane& lane_of(std::uint64_t hash) { return *lanes_[hash % lanes_.size()]; }

    const std::string prefix_;
    const home_ptr<redis::listener> ear_;
    std::vector<home_ptr<redis::front_lane>> lanes_;
};

bool away(errc code) {
    return code == errc::unavailable || code == errc::timed_out;
}

} // namespace

result<std::unique_ptr<front_tier>> open_redis_front(const redis_store_options& options) {
    if (auto sound = redis::check_options(options); !sound) return std::move(sound).error();
    if (options.connections == redis_connections::one) {
        return failure{.code = errc::invalid_argument,
                       .possible = effect::none,
                       .detail = "redis: a front has a connection per lane"};
    }
    const auto how = redis::link_options_of(options);
    if (!how) return how.error();
    redis::link first{*how};
    auto fit = redis::look_at_server(first, redis::server_use::front, options);
    if (!fit && !away(fit.error().code)) return std::move(fit).error();
    return std::unique_ptr<front_tier>{std::make_unique<redis_front>(options, *how)};
}

} // namespace semel
