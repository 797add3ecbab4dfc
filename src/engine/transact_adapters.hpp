// Work of callers that block, and of callers that do not, as the one flow sees it.
#pragma once

#include <coroutine>
#include <optional>
#include <utility>

#include "semel/base/task.hpp"
#include "semel/engine.hpp"
#include "semel/engine/detail/work.hpp"
#include "transaction/transaction_port.hpp"

namespace semel {

// What is run in the transaction.
class transaction_work {
public:
    virtual ~transaction_work() = default;
    // errc::unsupported if the port is for the other kind of callers.
    [[nodiscard]] virtual result<void> check(const transaction_port& on) const = 0;
    // Runs the work in place. Returns nothing for work that must be started, and ends later.
    virtual std::optional<work_end> run(execution& /*handed*/) { return std::nullopt; }
    virtual void start(execution& /*handed*/, unique_function<void(work_end)> /*done*/) {}
};

class blocking_work final : public transaction_work {
public:
    explicit blocking_work(detail::work& of) : of_(of) {}
    [[nodiscard]] result<void> check(const transaction_port& on) const override {
        if (on.blocks()) return {};
        return failure{.code = errc::unsupported,
                       .detail = "this connection has a waiter: use the async calls"};
    }
    std::optional<work_end> run(execution& handed) override { return of_.run(handed); }

private:
    detail::work& of_;
};

class async_work final : public transaction_work {
public:
    explicit async_work(engine::started_work& of) : of_(of) {}
    [[nodiscard]] result<void> check(const transaction_port& on) const override {
        if (on.suspends()) return {};
        return failure{.code = errc::unsupported,
                       .detail = "this connection has no waiter: use the calls that block"};
    }
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
