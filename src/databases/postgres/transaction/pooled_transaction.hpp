// A transaction on whichever connection of a pool is free.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "databases/postgres/transaction/pool.hpp"

namespace semel::postgres {

// One call. It has a connection from lock() to the end of the transaction.
class pooled_transaction final : public transaction_port {
public:
    explicit pooled_transaction(std::shared_ptr<pool_core> pool) : pool_(std::move(pool)) {}
    pooled_transaction(const pooled_transaction&) = delete;
    pooled_transaction& operator=(const pooled_transaction&) = delete;
    ~pooled_transaction() override;

    [[nodiscard]] bool blocks() const override { return false; }
    [[nodiscard]] bool suspends() const override { return true; }
    task<result<void>> begin(on_locked locked) override;
    task<result<void>> join() override;
    task<result<void>> lock(const record_id& id, locked_record& to) override;
    task<result<void>> save(const record_id& id, const record& after,
                            std::uint64_t seen_fence) override;
    void leave(const record_id& id) override;
    task<result<void>> commit() override;
    [[nodiscard]] bool asks_to_repeat() const override;
    task<result<void>> rollback() override;
    void stay() override { stays_ = true; }
    void abandon() noexcept override;
    [[nodiscard]] const void* connection() const override;
    [[nodiscard]] std::string_view tables() const override { return pool_->tables(); }
    [[nodiscard]] void* for_work() override;

private:
    class turn;
    task<result<void>> take(const record_id& id);
    result<void> check_same_tables();
    task<result<void>> make_way_for(pool_successor& next);
    void give_back();

    const std::shared_ptr<pool_core> pool_;
    pool_member* at_ = nullptr;
    on_locked locked_ = on_locked::wait;
    bool stays_ = false;
    std::string looked_in_; // the table of this call's first look
    pool_caller caller_;
};

} // namespace semel::postgres
