// A front before another subject's store, as a subject.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "redis_subject.hpp"
#include "semel/conformance.hpp"
#include "semel/databases/redis.hpp"
#include "semel/store/tiered.hpp"
#include "support/memory_front.hpp"
#include "support/redis_server.hpp"

namespace semel::conformance {

// Where fronts are opened; all of one place share what they remember.
using front_maker = std::function<std::unique_ptr<front_tier>()>;

class tiered_backing final : public backing {
public:
    tiered_backing(std::unique_ptr<backing> truth, front_maker front)
        : truth_(std::move(truth)), front_(std::move(front)) {}

    result<std::unique_ptr<store>> open() override {
        auto truth = truth_->open();
        if (!truth) return std::move(truth).error();
        return open_tiered_store(front_(), *std::move(truth));
    }
    std::optional<std::uint64_t> writes() override { return truth_->writes(); }

private:
    const std::unique_ptr<backing> truth_;
    const front_maker front_;
};

inline subject tiered_subject(const subject& truth, const std::string& name,
                              std::function<front_maker()> place) {
    subject made = truth;
    made.name = "tiered_" + name + "_" + truth.name;
    made.make = [make = truth.make, place = std::move(place)] {
        return std::make_unique<tiered_backing>(make(), place());
    };
    return made;
}

inline front_maker memory_place() {
    return [in = std::make_shared<test::front_memory>()] {
        return std::make_unique<test::memory_front>(in);
    };
}

// Loses all it has every now and then, and does not answer every question. It keeps its word about
// what must be forgotten and about ends: else a gate could stay behind, which is allowed and not
// what `apply` says.
class forgetful_front final : public front_tier {
public:
    explicit forgetful_front(std::shared_ptr<test::front_memory> in)
        : in_(std::move(in)), inner_(in_) {}

    void submit(const record_id& id, front_command what, front_completion done) override {
        if (fails(what)) return done(away());
        inner_.submit(id, std::move(what), std::move(done));
    }
    result<front_sight> call(const record_id& id, front_command what) override {
        if (fails(what)) return away();
        return inner_.call(id, std::move(what));
    }
    void clear() override { inner_.clear(); }

private:
    static failure away() { return {.code = errc::timed_out, .detail = "the front is away"}; }

    bool fails(const front_command& what) {
        const std::uint64_t roll = rolls_.fetch_add(1) * 0x9E3779B97F4A7C15U >> 32;
        if (roll % 7 == 0) in_->lose_everything();
        const bool may =
            std::holds_alternative<fronts::look>(what) || std::holds_alternative<fronts::put>(what);
        return may && roll % 5 == 0;
    }

    const std::shared_ptr<test::front_memory> in_; // shared with other fronts of the place
    test::memory_front inner_;
    std::atomic<std::uint64_t> rolls_ = 0;
};

inline front_maker forgetful_place() {
    return [in = std::make_shared<test::front_memory>()] {
        return std::make_unique<forgetful_front>(in);
    };
}

// Nobody listens there.
inline front_maker lost_place() {
    return [] {
        redis_store_options to;
        to.port = 1;
        return open_redis_front(to).value();
    };
}

inline front_maker redis_place() {
    redis_store_options to = own_redis();
    to.prefix = test::fresh_prefix();
    // Cleans up behind the last front of the place.
    const std::shared_ptr<void> cleaner{
        nullptr, [to](void*) { test::redis_client{to}.remove_all(to.prefix); }};
    return [to, cleaner] { return open_redis_front(to).value(); };
}

} // namespace semel::conformance
