// A transaction on the application's connection, as the engine asks for it.
#pragma once

#include <utility>

#include "base/home_process.hpp"
#include "databases/postgres/transaction/caller_ending.hpp"
#include "databases/postgres/transaction/caller_records.hpp"
#include "databases/postgres/transaction/caller_session.hpp"
#include "transaction/transaction_port.hpp"

namespace semel::postgres {

// Used by one caller at a time, like the connection.
class caller_transaction final : public transaction_port {
public:
    // `waits`: on whose loop; none: in place.
    caller_transaction(pg_conn* handle, socket_waiter* waits,
                       const postgres_transaction_options& options)
        : session_(handle, waits, options),
          records_(session_),
          ending_(session_, records_),
          for_work_(handle, waits),
          suspends_(waits != nullptr) {}

    [[nodiscard]] bool blocks() const override { return !suspends_; }
    [[nodiscard]] bool suspends() const override { return suspends_; }
    done begin(on_locked locked) override;
    done join() override;
    done lock(const record_id& id, locked_record& to) override { return records_.lock(id, to); }
    done save(const record_id& id, const record& after, std::uint64_t seen_fence) override {
        return records_.save(id, after, seen_fence);
    }
    void leave(const record_id& id) override { records_.leave(id); }
    done commit() override { return ending_.commit(); }
    [[nodiscard]] bool asks_to_repeat() const override { return ending_.asks_to_repeat(); }
    done rollback() override { return ending_.roll_back(); }
    void abandon() noexcept override { ending_.abandon(); }
    [[nodiscard]] const void* connection() const override { return session_.handle(); }
    [[nodiscard]] std::string_view tables() const override {
        return session_.options().table_prefix;
    }
    [[nodiscard]] void* for_work() override { return &for_work_; }

    // ---- for a pool

    [[nodiscard]] caller_session& session() { return session_; }
    [[nodiscard]] const caller_session& session() const { return session_; }
    [[nodiscard]] caller_ending& ending() { return ending_; }
    // The connection is in the transaction of the caller that came next.
    [[nodiscard]] bool entered() const { return records_.entered(); }

private:
    done begin_unprepared(on_locked locked);
    result<void> start(on_locked locked);

    const home_process home_;
    caller_session session_;
    caller_records records_;
    caller_ending ending_;
    postgres_connection for_work_;
    const bool suspends_;
};

} // namespace semel::postgres
