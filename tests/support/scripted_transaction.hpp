// A transaction over one record table in memory, whose every statement can be made to fail.
#pragma once

#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transaction/transaction_port.hpp"

namespace semel::support {

// The table and the business effects beside it; both change only by commit.
struct scripted_database {
    std::map<record_id, record> records;
    int effects = 0;
    time_point now{std::chrono::hours{24 * 365 * 50}};
};

struct statement_fault {
    enum class applies { no, yes };
    std::size_t nth = 0; // of all statements of this connection
    failure why = {.code = errc::unavailable};
    applies commit = applies::no;   // a commit that fails may have taken place
    std::exception_ptr thrown = {}; // instead of an answer
};

// One thread. For callers that block, and for callers that do not.
class scripted_port : public transaction_port {
public:
    explicit scripted_port(scripted_database& on) : on_(on) {}

    void fail(statement_fault with) { fault_ = std::move(with); }
    void effect() { pending_effects_ += open_ ? 1 : 0; }
    void end() {
        open_ = false;
        mark_ = 0;
        pending_.clear();
        pending_effects_ = 0;
    }
    void open() { open_ = true; }
    [[nodiscard]] bool is_open() const { return open_; }
    [[nodiscard]] const std::vector<std::string>& statements() const { return statements_; }
    [[nodiscard]] on_locked wanted() const { return wanted_; }

    [[nodiscard]] bool suspends() const override { return true; }
    done begin(on_locked locked) override { return ready(start(locked)); }
    done join() override { return ready(enter()); }
    done lock(const record_id& id, locked_record& to) override { return ready(look(id, to)); }
    done save(const record_id& id, const record& after, std::uint64_t fence) override {
        return ready(put(id, after, fence));
    }
    done commit() override { return ready(finish()); }
    done rollback() override {
        statements_.emplace_back("rollback");
        end();
        return ready();
    }
    [[nodiscard]] const void* connection() const override { return this; }
    [[nodiscard]] void* for_work() override { return this; }

private:
    result<void> start(on_locked locked) {
        wanted_ = locked;
        if (auto why = next("begin")) return *why;
        if (open_) return failure{.code = errc::invalid_argument, .detail = "in a transaction"};
        open_ = true;
        mark_ = ++serial_;
        return {};
    }
    result<void> enter() {
        if (auto why = next("join")) return *why;
        if (!open_) return failure{.code = errc::invalid_argument, .detail = "no transaction"};
        mark_ = ++serial_;
        return {};
    }
    result<void> look(const record_id& id, locked_record& to) {
        if (auto why = next("lock")) return *why;
        to = {.at = {.now = on_.now}};
        if (const auto found = on_.records.find(id); found != on_.records.end()) {
            to.stored = found->second;
        }
        return {};
    }
    result<void> put(const record_id& id, const record& after, std::uint64_t fence) {
        if (auto why = next("save")) return *why;
        if (!open_ || mark_ == 0) return failure{.code = errc::transaction_broken};
        const auto found = on_.records.find(id);
        const auto there = found == on_.records.end() ? 0 : found->second.holder.fence;
        if (there != fence) return failure{.code = errc::conflict};
        pending_.insert_or_assign(id, after);
        return {};
    }
    result<void> finish() {
        const auto why = next("commit");
        if (!why || fault_commits_) {
            for (auto& [id, one] : pending_) on_.records.insert_or_assign(id, one);
            on_.effects += pending_effects_;
        }
        end();
        return why ? result<void>{*why} : result<void>{};
    }
    std::optional<failure> next(const char* what) {
        statements_.emplace_back(what);
        fault_commits_ = false;
        if (!fault_ || asked_++ != fault_->nth) return std::nullopt;
        fault_commits_ = fault_->commit == statement_fault::applies::yes;
        if (fault_->thrown) std::rethrow_exception(fault_->thrown);
        return fault_->why;
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

class scripted_transaction : public transaction {
public:
    using connection_type = scripted_port&;
    using applies = statement_fault::applies;

    explicit scripted_transaction(scripted_database& on)
        : transaction(std::make_unique<scripted_port>(on)),
          port_(static_cast<scripted_port*>(&transaction_port::of(*this))) {}

    void fail(statement_fault with) { port_->fail(std::move(with)); }
    // The business statement of the work.
    void effect() { port_->effect(); }
    // What badly behaved work does behind the engine's back.
    void user_rolls_back() { port_->end(); }
    void user_begins() { port_->open(); }
    [[nodiscard]] const std::vector<std::string>& statements() const { return port_->statements(); }
    [[nodiscard]] bool open() const { return port_->is_open(); }
    [[nodiscard]] on_locked wanted() const { return port_->wanted(); }
    // What the owner of the transaction does.
    [[nodiscard]] bool begin() { return static_cast<bool>(port_->begin(on_locked::wait).get()); }
    [[nodiscard]] bool commit() { return static_cast<bool>(port_->commit().get()); }
    void rollback() { static_cast<void>(port_->rollback().get()); }

private:
    scripted_port* port_;
};

} // namespace semel::support
