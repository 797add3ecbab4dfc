// The reference store behind batch lanes: what the lanes themselves have to keep.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "conformance/reference_store.hpp"
#include "store/laned_store.hpp"

namespace semel::conformance {

// Executes a batch job by job and checks what a lane promises about batches.
class reference_backend final : public batch_backend {
public:
    explicit reference_backend(std::shared_ptr<reference_state> state) : state_(std::move(state)) {}

    void execute(std::span<job* const> batch) override {
        EXPECT_FALSE(batch.empty());
        const record_id* last = nullptr;
        for (job* one : batch) {
            EXPECT_TRUE(last == nullptr || *last < one->id) << "not sorted, or twice in a batch";
            last = &one->id;
            one->answer = state_->execute(one->id, std::move(one->what), one->now);
        }
    }

private:
    const std::shared_ptr<reference_state> state_;
};

class laned_reference final : public laned_store {
public:
    explicit laned_reference(const std::shared_ptr<reference_state>& state)
        : laned_store(backends(state), std::make_unique<reference_backend>(state),
                      {.batch_max = 16}),
          state_(state) {}
    ~laned_reference() override { drain(); }

    result<sweep_report> sweep(const sweep_request& request) override {
        return state_->sweep(request);
    }
    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return state_->audit(id);
    }
    result<record_page> search(const record_query& query) override { return state_->search(query); }
    [[nodiscard]] store_traits traits() const override { return {}; }

private:
    static std::vector<std::unique_ptr<batch_backend>>
    backends(const std::shared_ptr<reference_state>& state) {
        std::vector<std::unique_ptr<batch_backend>> all;
        for (int i = 0; i < 3; ++i) all.push_back(std::make_unique<reference_backend>(state));
        return all;
    }

    const std::shared_ptr<reference_state> state_;
};

inline subject laned_reference_subject() {
    return {.name = "reference_laned",
            .make = [] { return std::make_unique<reference_backing<laned_reference>>(faults{}); },
            .opens = instances::many};
}

} // namespace semel::conformance
