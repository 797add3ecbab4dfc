// A transaction on whichever connection of a pool is free.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sql/pool.hpp"

namespace semel::sql {

// One call. It has a connection from lock() to the end of the transaction.
class pooled_transaction : public transaction_port {
public:
    explicit pooled_transaction(std::shared_ptr<pool> in) : pool_(std::move(in)) {}
    pooled_transaction(const pooled_transaction&) = delete;
    pooled_transaction& operator=(const pooled_transaction&) = delete;
    ~pooled_transaction() override;

    [[nodiscard]] bool blocks() const override { return pool_->blocks(); }
    [[nodiscard]] bool suspends() const override { return !pool_->blocks(); }
    done begin(on_locked locked) override;
    done join() override;
    done lock(const record_id& id, locked_record& to) override;
    done save(const record_id& id, const record& after, std::uint64_t seen_fence) override;
    void leave(const record_id& id) override;
    done commit() override;
    [[nodiscard]] bool asks_to_repeat() const override;
    done rollback() override;
    void stay() override { stays_ = true; }
    void abandon() noexcept override;
    [[nodiscard]] const void* connection() const override;
    [[nodiscard]] std::string_view tables() const override { return pool_->limits().table_prefix; }
    [[nodiscard]] void* for_work() override;

protected:
    [[nodiscard]] pool& in() { return *pool_; }
    // Null before lock() and behind the end.
    [[nodiscard]] pool_member* at() const { return at_; }
    [[nodiscard]] bool stays() const { return stays_; }
    // For a successor: the connection is in its transaction.
    void pass_on() { at_ = nullptr; }
    void take_again(pool_member& what) { at_ = &what; }
    void give_back();

private:
    class turn;
    done take(const record_id& id);
    result<void> check_same_tables();

    const std::shared_ptr<pool> pool_;
    pool_member* at_ = nullptr;
    on_locked locked_ = on_locked::wait;
    bool stays_ = false;
    std::string looked_in_; // the place of this call's first look
    pool_caller caller_;
};

} // namespace semel::sql
