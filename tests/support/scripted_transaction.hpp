// A transaction port over one record table in memory, whose every statement can be made to fail.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "semel/transaction.hpp"

namespace semel::support {

// The table and the business effects beside it; both change only by commit.
struct scripted_database {
    std::map<record_id, record> records;
    int effects = 0;
    time_point now{std::chrono::hours{24 * 365 * 50}};
};

// One thread.
class scripted_transaction final : public transaction_port {
public:
    enum class applies { no, yes };
    struct statement_fault {
        std::size_t nth = 0; // of all statements of this port
        failure why = {.code = errc::unavailable};
        applies commit = applies::no;   // a commit that fails may have taken place
        std::exception_ptr thrown = {}; // instead of an answer
    };

    explicit scripted_transaction(scripted_database& on) : on_(on) {}

    void fail(statement_fault with) { fault_ = std::move(with); }
    // The business statement of the work.
    void effect() { pending_effects_ += open_ ? 1 : 0; }
    // What badly behaved work does behind the engine's back.
    void user_rolls_back() { end(); }
    void user_begins() { open_ = true; }
    [[nodiscard]] const std::vector<std::string>& statements() const { return statements_; }
    [[nodiscard]] bool open() const { return open_; }

    result<void> begin(on_locked locked) override {
        wanted_ = locked;
        if (auto why = next("begin")) return *why;
        if (open_) return failure{.code = errc::invalid_argument, .detail = "in a transaction"};
        open_ = true;
        mark_ = ++serial_;
        return {};
    }
    result<void> join() override {
        if (auto why = next("join")) return *why;
        if (!open_) return failure{.code = errc::invalid_argument, .detail = "no transaction"};
        mark_ = ++serial_;
        return {};
    }
    result<locked_record> lock(const record_id& id) override {
        if (auto why = next("lock")) return *why;
        locked_record seen{.at = {.now = on_.now}};
        if (const auto found = on_.records.find(id); found != on_.records.end()) {
            seen.stored = found->second;
        }
        return seen;
    }
    result<void> save(const record_id& id, const record& after, std::uint64_t fence) override {
        if (auto why = next("save")) return *why;
        if (!open_ || mark_ == 0) return failure{.code = errc::transaction_broken};
        const auto found = on_.records.find(id);
        const auto there = found == on_.records.end() ? 0 : found->second.holder.fence;
        if (there != fence) return failure{.code = errc::conflict};
        pending_.insert_or_assign(id, after);
        return {};
    }
    result<void> commit() override {
        const auto why = next("commit");
        if (!why || fault_commits_) {
            for (auto& [id, one] : pending_) on_.records.insert_or_assign(id, one);
            on_.effects += pending_effects_;
        }
        end();
        return why ? result<void>{*why} : result<void>{};
    }
    void rollback() override {
        statements_.emplace_back("rollback");
        end();
    }
    [[nodiscard]] const void* connection() const override { return this; }
    [[nodiscard]] on_locked wanted() const { return wanted_; }

private:
    std::optional<failure> next(const char* what) {
        statements_.emplace_back(what);
        fault_commits_ = false;
        if (!fault_ || asked_++ != fault_->nth) return std::nullopt;
        fault_commits_ = fault_->commit == applies::yes;
        if (fault_->thrown) std::rethrow_exception(fault_->thrown);
        return fault_->why;
    }
    void end() {
        open_ = false;
        mark_ = 0;
        pending_.clear();
        pending_effects_ = 0;
    }

    scripted_database& on_;
    std::optional<statement_fault> fault_;
    std::vector<std::string> statements_;
    std::map<record_id, record> pending_;
    int pending_effects_ = 0;
    bool open_ = false;
    bool fault_commits_ = false;
    std::size_t asked_ = 0;
    std::uint64_t mark_ = 0; // of the transaction that the engine began or joined; 0: gone
    std::uint64_t serial_ = 0;
    on_locked wanted_ = on_locked::wait;
};

} // namespace semel::support
