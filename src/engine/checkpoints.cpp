// What a running attempt offers its work; its steps: recorded once, kept until the record is
// finished.
#include <memory>
#include <utility>

#include "engine/attempt.hpp"
#include "engine/deliver.hpp"
#include "engine/engine_core.hpp"
#include "semel/base/mutex.hpp"

namespace semel {

namespace {

result<void> check_step(const checkpoint& step, const limits& bounds) {
    if (step.name.empty() || step.name.size() > bounds.checkpoint_name_bytes_max) {
        return failure{.code = errc::limit_exceeded,
                       .detail = "a step's name must have 1 to " +
                                 std::to_string(bounds.checkpoint_name_bytes_max) + " bytes"};
    }
    if (step.data.size() > bounds.checkpoint_bytes_max) {
        return failure{.code = errc::limit_exceeded,
                       .detail = "step \"" + step.name + "\" has " +
                                 std::to_string(step.data.size()) + " bytes; the limit is " +
                                 std::to_string(bounds.checkpoint_bytes_max)};
    }
    return {};
}

failure too_many_steps() {
    return {.code = errc::limit_exceeded,
            .detail =
                "a record keeps at most " + std::to_string(limits{}.checkpoints_max) + " steps"};
}

// Fenced off is not a failure of the store. It is reported as `stopped`, a code that nothing else
// here uses.
result<void> step_answer(const reply& got) {
    if (std::holds_alternative<answers::stored>(got.said)) return {};
    if (std::holds_alternative<answers::over_limit>(got.said)) return too_many_steps();
    return failure{.code = errc::stopped, .detail = "the lease on the record was lost"};
}

} // namespace

bool attempt::has_lost_lease() const {
    return core_->keeper.has_lost(lease_);
}

bool attempt::has_confirmed_lease(local_time since) const {
    return core_->keeper.is_confirmed(lease_, since);
}

std::stop_token attempt::stop_token() const {
    return core_->keeper.stop_token(lease_);
}

bool attempt::taken_over() const {
    return started_.kind == answers::start_kind::taken_over;
}

const std::string* attempt::recorded(std::string_view name) const {
    for (const auto& one : started_.checkpoints) {
        if (one.name == name) return &one.data;
    }
    return nullptr;
}

result<void> attempt::may_record(std::string_view name) const {
    if (started_.checkpoints.size() >= limits{}.checkpoints_max) return too_many_steps();
    return check_step({.name = std::string{name}, .data = {}}, core_->options.limits);
}

void attempt::record_async(std::string name, std::string data,
                           unique_function<void(result<void>)> done) {
    checkpoint step{.name = std::move(name), .data = std::move(data)};
    if (auto fine = check_step(step, core_->options.limits); !fine) return done(std::move(fine));
    auto kept = std::make_unique<checkpoint>(step);
    complete_options carried{.what = commands::checkpoint{.by = by(), .step = std::move(step)},
                             .give_up_at = local_now() + core_->options.store_patience,
                             .seed = owner_.low};
    deliver(*core_, plan_.id, std::move(carried),
            [self = shared_from_this(), kept = std::move(kept),
             done = std::move(done)](auto got) mutable {
                auto stored = got ? step_answer(*got) : result<void>{std::move(got).error()};
                // The work waits for `done`, so no other thread uses the steps now.
                if (stored) self->started_.checkpoints.push_back(std::move(*kept));
                done(std::move(stored));
            });
}

void attempt::record(std::string_view name, std::string data) {
    detail::mutex mutex;
    detail::condition changed;
    std::optional<result<void>> answer;
    record_async(std::string{name}, std::move(data), [&](result<void> got) {
        const detail::guard lock{mutex};
        answer.emplace(std::move(got));
        changed.notify_one();
    });
    detail::guard lock{mutex};
    changed.wait(lock, [&] { return answer.has_value(); });
    if (*answer) return;
    if (answer->error().code == errc::stopped) throw lease_lost{};
    throw failure_error{answer->error()};
}

} // namespace semel
