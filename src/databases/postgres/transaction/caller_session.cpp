#include "databases/postgres/transaction/caller_session.hpp"

#include <libpq-fe.h>

#include <vector>

#include "databases/postgres/client/schema.hpp"
#include "databases/postgres/transaction/transaction_failures.hpp"

namespace semel::postgres {

// ---- a transaction may begin --------------------------------------------------------------------

// A pooled connection that is not idle was left by a call that could not end its transaction.
bool caller_session::usable() const {
    return PQstatus(handle_) == CONNECTION_OK &&
           (reconnects_ == reconnects::after_doubt || PQtransactionStatus(handle_) == PQTRANS_IDLE);
}

bool caller_session::ready() const {
    return usable() && !on_.lost() && now_ == state::prepared;
}

task<result<void>> caller_session::get_ready() {
    if (!usable()) {
        auto back = co_await reconnect();
        if (!back) co_return back;
    }
    forget_lost_connection();
    tell();
    if (auto fits = check_outside(); !fits) co_return fits;
    on_.do_not_block();
    if (now_ == state::prepared) co_return result<void>{};
    auto done = co_await prepare();
    co_return done;
}

task<result<void>> caller_session::get_ready_inside() {
    forget_lost_connection();
    if (now_ == state::prepared) co_return result<void>{};
    auto done = co_await prepare();
    co_return done;
}

result<void> caller_session::check_idle() const {
    if (PQpipelineStatus(handle_) != PQ_PIPELINE_OFF) {
        return refused(errc::invalid_argument,
                       "the connection is in pipeline mode; leave it first");
    }
    if (PQtransactionStatus(handle_) == PQTRANS_ACTIVE) {
        return refused(errc::invalid_argument, "a query is under way on this connection");
    }
    return {};
}

result<void> caller_session::check_outside() const {
    if (auto idle = check_idle(); !idle) return idle;
    if (PQtransactionStatus(handle_) == PQTRANS_IDLE) return {};
    return says.in_transaction();
}

result<void> caller_session::check_inside() const {
    if (auto idle = check_idle(); !idle) return idle;
    const auto status = PQtransactionStatus(handle_);
    if (status == PQTRANS_INTRANS) return {};
    if (status != PQTRANS_INERROR) return says.in_no_transaction();
    return refused(errc::invalid_argument, "the transaction has failed already; roll it back");
}

result<void> caller_session::check_work_left() const {
    if (PQpipelineStatus(handle_) != PQ_PIPELINE_OFF) return {};
    switch (PQtransactionStatus(handle_)) {
    case PQTRANS_ACTIVE:
        return broken("the work has left a query under way; read all that it gives, or call "
                      "PQenterPipelineMode before it is sent, to leave it for COMMIT");
    case PQTRANS_IDLE: return broken("the work has ended the transaction it ran in");
    case PQTRANS_UNKNOWN:
        return refused(errc::unavailable, "the connection was lost while the work ran");
    default: return {};
    }
}

// ---- connections that are lost ------------------------------------------------------------------

void caller_session::keep_connected(std::function<void(pg_conn*)> on_reconnect) {
    reconnects_ = reconnects::always;
    on_reconnect_ = std::move(on_reconnect);
}

// The owner of the connection may have reconnected it.
void caller_session::forget_lost_connection() {
    if (on_.forget_lost() && now_ == state::prepared) now_ = state::unprepared;
}

// A caller's own connection is reconnected only to learn what became of a COMMIT. The server may
// be on its way up again.
task<result<void>> caller_session::reconnect() {
    if (now_ != state::in_doubt && reconnects_ != reconnects::always) {
        co_return refused(errc::unavailable, "the connection is lost; PQreset or replace it");
    }
    const bool back = co_await on_.reset(local_clock::now() + options_.doubt_wait);
    if (!back) {
        co_return refused(errc::unavailable, "the connection was lost, and a new one failed");
    }
    now_ = state::reconnected;
    // A pool compares the place for each call.
    if (reconnects_ == reconnects::after_doubt) must_look_in_ = looked_in_;
    co_return result<void>{};
}

void caller_session::tell() {
    if (now_ != state::reconnected) return;
    if (on_reconnect_) on_reconnect_(handle_);
    now_ = state::unprepared;
}

result<void> caller_session::check_place(std::string_view table) {
    const std::string before = std::exchange(must_look_in_, {});
    if (!before.empty() && before != table) {
        return refused(errc::unavailable,
                       "the connection was lost during COMMIT, and the new one finds other tables; "
                       "put the search_path into the connection's options");
    }
    looked_in_ = table;
    return {};
}

// ---- statements ---------------------------------------------------------------------------------

bool caller_session::must_prepare_again(const native_failure& why) {
    const bool outdated = knows_other_tables(why);
    if (!outdated && !has_forgotten(why)) return false;
    now_ = outdated ? state::outdated : state::unprepared;
    return true;
}

task<result<void>> caller_session::check_tables() {
    std::int64_t version = 0;
    auto there = co_await on_.query(tables_there_text(options_.table_prefix));
    if (!there) co_return std::move(there).error();
    if (number_in(*there) != 0) {
        auto found = co_await on_.query(version_text(options_.table_prefix));
        if (!found) co_return std::move(found).error();
        version = number_in(*found);
    }
    co_return check_version(version, options_.table_prefix);
}

// Another handle may have prepared the same statements on this connection before.
task<result<void>> caller_session::prepare() {
    if (!valid_prefix(options_.table_prefix)) co_return says.no_prefix(options_.table_prefix);
    auto there = co_await check_tables();
    if (!there) co_return there;
    const auto known = co_await on_.query("SELECT name FROM pg_prepared_statements WHERE name LIKE "
                                          "'semel\\_t.%'");
    if (!known) co_return known.error();
    std::vector<preparation> missing;
    std::string old;
    for (const auto& one : texts_.all()) {
        bool is_known = false;
        for (int row = 0; row < known->count(); ++row) is_known |= known->bytes(row, 0) == one.name;
        const bool is_old = is_known && now_ == state::outdated;
        if (is_old) old += "DEALLOCATE \"" + one.name + "\";";
        if (is_old || !is_known) missing.push_back(one);
    }
    if (!old.empty()) {
        auto gone = co_await on_.query(std::move(old));
        if (!gone) co_return std::move(gone).error();
    }
    auto done = co_await on_.prepare(missing);
    if (!done) co_return done;
    now_ = state::prepared;
    co_return result<void>{};
}

} // namespace semel::postgres
