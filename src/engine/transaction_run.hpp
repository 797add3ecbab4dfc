// What work in a transaction sees of its execution.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/plan.hpp"
#include "semel/core/command.hpp"
#include "semel/engine/execution.hpp"

namespace semel {

// The transaction is the lease: no keeper, no checkpoints, nothing to lose before the commit.
class transaction_run final : public execution_port {
public:
    transaction_run(const plan& what, const answers::started& started)
        : plan_(what), started_(started), steps_(started.checkpoints) {}

    const record_id& id() const override { return plan_.id; }
    claim by() const override { return started_.by; }
    std::uint32_t attempt_count() const override { return started_.attempt; }
    bool taken_over() const override { return started_.kind == answers::start_kind::taken_over; }
    std::stop_token stop_token() const override { return {}; }
    const std::string* recorded(std::string_view name) const override {
        for (const auto& one : steps_) {
            if (one.name == name) return &one.data;
        }
        return nullptr;
    }
    // A step's effect rolls back with the rest, so nothing is kept for later attempts.
    void record(std::string_view name, std::string data) override {
        steps_.push_back({.name = std::string{name}, .data = std::move(data)});
    }
    void record_async(std::string name, std::string data,
                      unique_function<void(result<void>)> done) override {
        record(name, std::move(data));
        done({});
    }
    void set_result_ref(std::string ref) override { ref_ = std::move(ref); }
    [[nodiscard]] std::string take_ref() { return std::move(ref_); }

private:
    const plan& plan_;
    const answers::started& started_;
    std::vector<checkpoint> steps_;
    std::string ref_;
};

} // namespace semel
