// Ports and work of callers who block, and of callers who do not, as the one flow sees them.
#pragma once

#include <coroutine>
#include <optional>
#include <string_view>
#include <utility>

#include "semel/base/task.hpp"
#include "semel/engine.hpp"
#include "semel/engine/detail/work.hpp"
#include "semel/transaction.hpp"

namespace semel {

// A port that waits in place: all it gives is there at once.
class blocking_port final : public async_transaction_port {
public:
    explicit blocking_port(transaction_port& of) : of_(of) {}

    task<result<void>> begin(on_locked locked) override { return ended(of_.begin(locked)); }
    task<result<void>> join() override { return ended(of_.join()); }
    task<result<void>> lock(const record_id& id, locked_record& to) override {
        auto got = of_.lock(id);
        if (!got) return ended<result<void>>(std::move(got).error());
        to = *std::move(got);
        return ended(result<void>{});
    }
    task<result<void>> save(const record_id& id, const record& after,
                            std::uint64_t seen_fence) override {
        return ended(of_.save(id, after, seen_fence));
    }
    void leave(const record_id& id) override { of_.leave(id); }
    task<result<void>> commit() override { return ended(of_.commit()); }
    task<result<void>> begin_blind(const record_id& id) override {
        return ended(of_.begin_blind(id));
    }
    task<result<record_stamp>> commit_blind(const record_id& id, const record& made) override {
        auto kept = of_.commit_blind(id, made);
        return ended(std::move(kept));
    }
    result<void> expect_blind() override { return of_.expect_blind(); }
    [[nodiscard]] bool asks_to_repeat() const override { return of_.asks_to_repeat(); }
    task<result<void>> rollback() override {
        of_.rollback();
        return ended(result<void>{});
    }
    void abandon() noexcept override { of_.abandon(); }
    [[nodiscard]] const void* connection() const override { return of_.connection(); }
    [[nodiscard]] std::string_view tables() const override { return of_.tables(); }

private:
    template <class T> static task<T> ended(T&& with) { return task<T>{std::move(with)}; }

    transaction_port& of_;
};

// What is run in the transaction.
class transaction_work {
public:
    virtual ~transaction_work() = default;
    // Runs the work in place. Returns nothing for work that must be started, and ends later.
    virtual std::optional<work_end> run(execution& /*handed*/) { return std::nullopt; }
    virtual void start(execution& /*handed*/, unique_function<void(work_end)> /*done*/) {}
};

class blocking_work final : public transaction_work {
public:
    explicit blocking_work(detail::work& of) : of_(of) {}
    std::optional<work_end> run(execution& handed) override { return of_.run(handed); }

private:
    detail::work& of_;
};

class async_work final : public transaction_work {
public:
    explicit async_work(engine::started_work& of) : of_(of) {}
    void start(execution& handed, unique_function<void(work_end)> done) override {
        of_(handed, std::move(done));
    }

private:
    engine::started_work& of_;
};

// For co_await: the end of the work.
class awaited_end {
public:
    awaited_end(transaction_work& of, execution& handed) : of_(of), handed_(handed) {}
    bool await_ready() {
        end_ = of_.run(handed_);
        return end_.has_value();
    }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> at) {
        of_.start(handed_, [this, go = resumption{at, turn_}](work_end end) mutable {
            end_.emplace(std::move(end));
            go();
        });
        return turn_.suspends(at.promise().root);
    }
    work_end&& await_resume() { return *std::move(end_); }

private:
    transaction_work& of_;
    execution& handed_;
    std::optional<work_end> end_;
    handover turn_;
};

} // namespace semel
